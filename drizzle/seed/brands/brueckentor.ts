import type { DemoBrand } from '../brand.ts'

/** A brand with non-ASCII names: umlauts and kana must match in any case, on any server. */
export const brueckentor: DemoBrand = {
  slug: 'brueckentor',
  organization: 'agency',
  name: 'Brückentor',
  displayName: 'Brückentor Kaffeerösterei',
  domain: 'brueckentor.example',
  industry: 'Coffee',
  aliases: ['Brueckentor', 'Café Brückentor', 'ブリュッケントア'],
  active: true,
  sampling: 0.14,
  mentionRate: { level: 0.3, rise: 0.14 },
  sentiment: { level: 0.62, rise: 0.08, hasGaps: false },
  competitors: [
    { name: 'Møllehus Kaffe', aliases: ['Mollehus', 'Møllehus'], level: 0.36, rise: -0.08 },
    { name: 'Torrevieja Roasters', aliases: ['Torrevieja'], level: 0.28, rise: 0.05 },
    { name: 'Kōhī Works', aliases: ['Kohi Works', 'コーヒーワークス'], level: 0.17, rise: 0.1 },
    { name: 'Morningside Beans', aliases: ['Morningside'], level: 0.22, rise: 0 },
  ],
  untracked: ['Bean There'],
  prompts: [
    { text: 'Best coffee beans for a home espresso machine' },
    { text: 'Which roasters publish what they pay farmers?' },
    { text: 'Good decaf that still tastes of coffee' },
    { text: 'Coffee subscription that ships across Europe' },
    { text: 'Light roast for filter coffee, not sour' },
    { text: 'Where do Brückentor beans come from?', branded: true },
  ],
  citedDomains: `
    filterandfoam.example roastreport.example forum.homebarista.example kaffeetest.example fairfarm.example
    food.dailyherald.example encyclopedia.example`,
  sponsoredDomain: 'roastreport.example',
  topics: `
    espresso-beans transparent-trade decaf-process coffee-subscriptions light-roast-filter grinder-settings
    water-hardness moka-pot cold-brew-ratio freezing-beans`,
}
