import type { DemoBrand } from '../brand.ts'

/** The main brand: every prompt runs daily on every model and market, and the brand overtakes a competitor. */
export const haldenpeak: DemoBrand = {
  slug: 'haldenpeak',
  organization: 'enterprise',
  name: 'Haldenpeak',
  displayName: 'Haldenpeak Outdoor',
  domain: 'haldenpeak.example',
  industry: 'Outdoor equipment',
  aliases: ['Halden Peak', 'Haldenpeak Gear'],
  active: true,
  sampling: 1,
  mentionRate: { level: 0.13, rise: 0.37 },
  sentiment: { level: 0.46, rise: 0.2, hasGaps: false },
  competitors: [
    { name: 'Tarnvale', aliases: ['Tarn Vale', 'Tarnvale Mountain'], level: 0.62, rise: -0.28 },
    { name: 'Corriegear', aliases: ['Corrie Gear'], level: 0.34, rise: 0.04 },
    { name: 'Fjordlund', aliases: ['Fjordlund Expedition', 'フィヨルドルンド'], level: 0.26, rise: 0.06 },
    { name: 'Stonewren', aliases: ['Stone Wren Co.'], level: 0.19, rise: -0.05 },
    { name: 'Ridgeline & Rowe', aliases: ['Ridgeline and Rowe', 'R&R Outdoors'], level: 0.12, rise: 0.1 },
    { name: 'Alpenholt', aliases: ['Alpenholt AG'], active: false, level: 0.09, rise: -0.06 },
  ],
  untracked: ['Basecamp Depot'],
  prompts: [
    { text: 'What are the best waterproof hiking boots for wet winters?' },
    { text: 'Which backpack should I take on a three-day hut walk?' },
    { text: 'Best lightweight tent for two people under 1.5 kg' },
    { text: 'Which outdoor brands repair their jackets for free?' },
    { text: 'Warmest sleeping bag for camping below freezing' },
    { text: 'What rain jacket still breathes on a steep climb?' },
    { text: 'Most sustainable outdoor clothing companies' },
    { text: 'Good first trekking poles for bad knees' },
    { text: 'Is Haldenpeak worth the price?', branded: true },
    { text: 'Haldenpeak or Tarnvale: whose boots last longer?', branded: true },
    { text: 'Which hiking gear is on sale this week?', counts: false },
    { text: 'Best hiking boots of summer 2026', retiredAt: '2026-10-20T09:30:00Z' },
  ],
  citedDomains: `
    trailgazette.example packandpole.example summitreviews.example hutwalkers.example gearlab-north.example
    outdoors.dailyherald.example forum.ultralight.example bootfitters.example tarnvale.example
    corriegear.example wildcampers.example reviews.kaufrat.example video.tubular.example encyclopedia.example`,
  sponsoredDomain: 'trailgazette.example',
  topics: `
    waterproof-hiking-boots three-day-backpacks two-person-tents jacket-repair-service winter-sleeping-bags
    breathable-rain-jackets sustainable-outdoor-brands trekking-poles boot-resoling layering-for-cold
    camp-stoves merino-base-layers`,
}
