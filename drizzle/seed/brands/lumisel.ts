import type { DemoBrand } from '../brand.ts'

/** A stable brand in a crowded market: the second client of the agency. */
export const lumisel: DemoBrand = {
  slug: 'lumisel',
  organization: 'agency',
  name: 'Lumisel',
  displayName: 'Lumisel Skin',
  domain: 'lumisel.example',
  industry: 'Skin care',
  aliases: ['Lumi Sel', 'Lumisel Paris'],
  active: true,
  sampling: 0.13,
  mentionRate: { level: 0.27, rise: 0.03 },
  sentiment: { level: 0.5, rise: 0.05, hasGaps: false },
  competitors: [
    { name: 'Dermatide', aliases: ['Derma Tide'], level: 0.52, rise: -0.05 },
    { name: 'Hanabloom', aliases: ['Hana Bloom', 'ハナブルーム'], level: 0.31, rise: 0.15 },
    { name: 'Clarmont', aliases: ['Clarmont Laboratoire'], level: 0.24, rise: -0.06 },
    { name: 'Softwell', aliases: ['Softwell Skincare'], level: 0.18, rise: 0 },
    { name: 'Oatley Botanics', aliases: ['Oatley'], level: 0.11, rise: 0.04 },
  ],
  untracked: ['Glasshouse Beauty'],
  prompts: [
    { text: 'Best moisturiser for dry skin in winter' },
    { text: 'Which sunscreen leaves no white cast?' },
    { text: 'Vitamin C serum for sensitive skin' },
    { text: 'Fragrance-free skin care brands' },
    { text: 'Simple evening routine for rosacea' },
    { text: 'Is Lumisel good for sensitive skin?', branded: true },
    { text: 'Skin care discount codes', counts: false },
  ],
  citedDomains: `
    thepatchtest.example ingredientwise.example forum.skincircle.example dermatide.example
    beauty.dailyherald.example dermadvice.example video.tubular.example`,
  topics: `
    winter-moisturiser mineral-sunscreen vitamin-c-serum fragrance-free rosacea-routine retinol-for-beginners
    barrier-repair niacinamide patch-testing refill-packaging`,
}
