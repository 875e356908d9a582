import type { DemoBrand } from '../brand.ts'

/** An inactive brand: its records remain, but no key can read it. */
export const haldenpeakKids: DemoBrand = {
  slug: 'haldenpeak-kids',
  organization: 'enterprise',
  name: 'Haldenpeak Kids',
  displayName: 'Haldenpeak Kids',
  domain: 'kids.haldenpeak.example',
  industry: null,
  aliases: ['Little Halden'],
  active: false,
  sampling: 0.06,
  mentionRate: { level: 0.12, rise: -0.04 },
  sentiment: { level: 0.4, rise: 0, hasGaps: false },
  competitors: [
    { name: 'Puddlejump', aliases: ['Puddle Jump'], level: 0.45, rise: 0.05 },
    { name: 'Minimoor', aliases: ['Mini Moor'], level: 0.3, rise: 0 },
    { name: 'Tarnvale Junior', aliases: ['Tarnvale Jr.'], level: 0.2, rise: -0.1 },
  ],
  untracked: ['Wee Walkers'],
  prompts: [
    { text: 'Best rain suit for a toddler' },
    { text: 'Which children’s hiking boots grow with the foot?' },
    { text: 'Warm snow trousers for kindergarten' },
    { text: 'Does Haldenpeak make clothes for children?', branded: true },
  ],
  citedDomains: `
    muddyparents.example kidsgeartest.example forum.familytrails.example puddlejump.example
    reviews.kaufrat.example`,
  topics: `
    toddler-rain-suits children-hiking-boots snow-trousers hand-me-down-gear school-backpacks baby-carriers
    family-hut-trips wool-for-kids mittens-that-stay-on first-sleeping-bag`,
}
