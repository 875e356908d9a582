import type { DemoBrand } from '../brand.ts'

/** A brand with gaps: days with neutral phrases only, and days without phrases. */
export const vellamora: DemoBrand = {
  slug: 'vellamora',
  organization: 'enterprise',
  name: 'Vellamora',
  displayName: 'Vellamora Home',
  domain: 'vellamora.example',
  industry: 'Home appliances',
  aliases: ['Vella Mora', 'Vellamora Kitchen'],
  active: true,
  sampling: 0.14,
  mentionRate: { level: 0.34, rise: -0.06 },
  sentiment: { level: 0.52, rise: -0.12, hasGaps: true },
  competitors: [
    { name: 'Brightkettle', aliases: ['Bright Kettle'], level: 0.41, rise: 0.08 },
    { name: 'Osterholm', aliases: ['Osterholm Haushalt'], level: 0.3, rise: -0.04 },
    { name: 'Kitsune Home', aliases: ['Kitsune', 'キツネホーム'], level: 0.15, rise: 0.12 },
    { name: 'Domestica', aliases: ['Domestica Plus'], active: false, level: 0.08, rise: 0 },
  ],
  untracked: ['Hearth & Hob'],
  prompts: [
    { text: 'Quietest dishwasher for an open kitchen' },
    { text: 'Which kettle keeps an exact temperature for tea?' },
    { text: 'Best compact washing machine for a small flat' },
    { text: 'Which appliance brands sell spare parts for ten years?' },
    { text: 'Energy-saving fridge for a family of four' },
    { text: 'Are Vellamora dishwashers reliable?', branded: true },
    { text: 'Cheapest place to buy a dryer', counts: false },
  ],
  citedDomains: `
    kitchenledger.example testbank.example appliance-advice.example forum.repairwise.example
    brightkettle.example homes.dailyherald.example reviews.kaufrat.example encyclopedia.example`,
  topics: `
    quiet-dishwashers variable-temperature-kettles compact-washing-machines spare-parts-promise
    energy-label-fridges heat-pump-dryers induction-hobs descaling limescale-hard-water steam-ovens`,
}
