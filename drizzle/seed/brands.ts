import { demoId } from './ids.ts'
import { ORGANIZATIONS } from './organizations.ts'

const { enterprise, agency, pro } = ORGANIZATIONS

/**
 * The demo brands: their records in the application, and how their metrics develop. A probability has its `level` at
 * the start of a cycle and its `rise` over the whole cycle: that an answer names the brand or competitor, and that a
 * phrase is positive. Of the cited sites, the brand owns the first one for some time. `sampling` is the share of the
 * daily runs (prompt × model × market) that exist. `idle` are inactive competitors and prompts that do not count. Answers
 * have the `unlisted` spellings of a competitor, too, which are not among its aliases.
 */
export const BRANDS = [
  // The main brand: every prompt runs daily on every model and market, and the brand overtakes a competitor.
  {
    slug: 'haldenpeak',
    organization: enterprise,
    name: 'Haldenpeak',
    displayName: 'Haldenpeak Outdoor',
    industry: 'Outdoor equipment',
    aliases: ['Halden Peak', 'Haldenpeak Gear'],
    named: { level: 0.13, rise: 0.37 },
    positive: { level: 0.46, rise: 0.2 },
    competitors: [
      { name: 'Tarnvale', aliases: ['Tarn Vale', 'Tarnvale Mountain'], level: 0.62, rise: -0.28 },
      { name: 'Corriegear', aliases: ['Corrie Gear'], level: 0.34, rise: 0.04 },
      { name: 'Fjordlund', aliases: ['Fjordlund Expedition', 'フィヨルドルンド'], level: 0.26, rise: 0.06 },
      { name: 'Ridgeline & Rowe', aliases: ['Ridgeline and Rowe', 'R&R Outdoors'], level: 0.12, rise: 0.1 },
      { name: 'Alpenholt', aliases: ['Alpenholt AG'], level: 0.09, rise: -0.06 },
    ],
    prompts: [
      'What are the best waterproof hiking boots for wet winters?',
      'Which backpack should I take on a three-day hut walk?',
      'Best lightweight tent for two people',
      'Which outdoor brands repair their jackets for free?',
      'Warmest sleeping bag for camping below freezing',
      'Most sustainable outdoor clothing companies',
      'Is Haldenpeak worth the price?',
      'Haldenpeak or Tarnvale: whose boots last longer?',
      'Which hiking gear is on sale this week?',
      'Best hiking boots of summer 2026',
    ],
    idle: ['Alpenholt', 'Which hiking gear is on sale this week?'],
    retired: 'Best hiking boots of summer 2026',
    sites: ['trailgazette', 'packandpole', 'summitreviews', 'hutwalkers', 'tarnvale', 'forum.ultralight'],
  },
  // A brand with gaps: days with neutral phrases only, and days without phrases.
  {
    slug: 'vellamora',
    organization: enterprise,
    name: 'Vellamora',
    displayName: 'Vellamora Home',
    industry: 'Home appliances',
    aliases: ['Vella Mora', 'Vellamora Kitchen'],
    sampling: 0.3,
    named: { level: 0.34, rise: -0.06 },
    positive: { level: 0.52, rise: -0.12 },
    hasGaps: true,
    competitors: [
      { name: 'Brightkettle', aliases: ['Bright Kettle'], level: 0.41, rise: 0.08 },
      { name: 'Osterholm', aliases: ['Osterholm Haushalt'], level: 0.3, rise: -0.04 },
      { name: 'Kitsune Home', aliases: ['キツネホーム'], unlisted: ['Kitsune'], level: 0.15, rise: 0.12 },
    ],
    prompts: [
      'Quietest dishwasher for an open kitchen',
      'Which kettle keeps an exact temperature for tea?',
      'Are Vellamora dishwashers reliable?',
    ],
    sites: ['kitchenledger', 'testbank', 'forum.repairwise', 'brightkettle'],
  },
  // An inactive brand: its records remain, but no key can read it.
  {
    slug: 'haldenpeak-kids',
    organization: enterprise,
    name: 'Haldenpeak Kids',
    displayName: 'Haldenpeak Kids',
    industry: null,
    aliases: ['Little Halden'],
    active: false,
    sampling: 0.1,
    named: { level: 0.12, rise: -0.04 },
    positive: { level: 0.4, rise: 0 },
    competitors: [{ name: 'Puddlejump', aliases: ['Puddle Jump'], level: 0.45, rise: 0.05 }],
    prompts: ['Best rain suit for a toddler', 'Do Haldenpeak Kids jackets run small?'],
    sites: ['muddyparents', 'kidsgeartest', 'puddlejump'],
  },
  // A brand with non-ASCII names: umlauts and kana must match in any case, on any server.
  {
    slug: 'brueckentor',
    organization: agency,
    name: 'Brückentor',
    displayName: 'Brückentor Kaffeerösterei',
    industry: 'Coffee',
    aliases: ['Brueckentor', 'Café Brückentor', 'ブリュッケントア'],
    sampling: 0.25,
    named: { level: 0.3, rise: 0.14 },
    positive: { level: 0.62, rise: 0.08 },
    competitors: [
      { name: 'Møllehus Kaffe', aliases: ['Mollehus', 'Møllehus'], level: 0.36, rise: -0.08 },
      { name: 'Torrevieja Roasters', aliases: ['Torrevieja'], level: 0.28, rise: 0.05 },
      { name: 'Kōhī Works', aliases: ['Kohi Works', 'コーヒーワークス'], level: 0.17, rise: 0.1 },
    ],
    prompts: [
      'Best coffee beans for a home espresso machine',
      'Which roasters publish what they pay farmers?',
      'Where do Brückentor beans come from?',
    ],
    sites: ['roastreport', 'filterandfoam', 'forum.homebarista', 'kaffeetest'],
  },
  // Software for small companies: a new brand that starts low and grows fast.
  {
    slug: 'ledgerfin',
    organization: pro,
    name: 'Ledgerfin',
    displayName: 'Ledgerfin Accounting',
    industry: 'Business software',
    aliases: ['Ledger Fin', 'Ledgerfin Books'],
    sampling: 0.25,
    named: { level: 0.05, rise: 0.3 },
    positive: { level: 0.55, rise: 0.1 },
    competitors: [
      { name: 'Talliwise', aliases: ['Talli Wise'], level: 0.6, rise: -0.1 },
      { name: 'Countable Cloud', aliases: ['Countable'], level: 0.42, rise: 0 },
      { name: 'Buchwerk', aliases: ['Buchwerk GmbH'], level: 0.2, rise: 0.05 },
    ],
    prompts: [
      'Best accounting software for a firm of ten people',
      'Which invoicing tool files VAT returns by itself?',
      'Ledgerfin pricing and limits',
    ],
    sites: ['softwarescout', 'smallfirmweekly', 'forum.bookkeepers', 'talliwise'],
  },
].map(({ idle = [], ...brand }) => ({
  ...brand,
  id: demoId('brand', brand.slug),
  domain: `${brand.slug}.example`,
  competitors: brand.competitors.map((competitor) => ({
    unlisted: [],
    ...competitor,
    id: demoId('competitor', brand.slug, competitor.name),
    active: !idle.includes(competitor.name),
  })),
  prompts: brand.prompts.map((text) => ({
    id: demoId('prompt', brand.slug, text),
    text,
    branded: text.includes(brand.name),
    counts_in_metrics: !idle.includes(text),
    retired_at: text === brand.retired ? '2026-10-20T09:30:00Z' : null,
  })),
}))
