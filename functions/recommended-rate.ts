import * as z from 'zod/mini'
import { dailyRecommendedRate } from '../drizzle/metrics/recommended-rate.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, flag, rate, text } from '../lib/rows/schema.ts'

export const RecommendedRateRow = z.object({
  date: day('UTC day of the answers.'),
  entity_name: text('Name of the brand or active competitor.'),
  is_brand: flag('True for the brand. Its row comes first on each date.'),
  recommended_rate: rate('Answers that recommend the entity, divided by `judged_answers`, × 100.'),
  judged_answers: count('Counted answers in which the entity was judged. Never 0.'),
})

export default paged({
  path: '/recommended-rate',
  summary: 'Recommended rate',
  description: `Returns how often answers recommend the brand and its active competitors. One row per date and judged entity.
Data starts on 2026-09-22. The number of answers that recommend the entity is
\`round(recommended_rate × judged_answers / 100)\`. Rate of a period, per entity: sum these numbers, divide by
\`sum(judged_answers)\`, then multiply by 100.`,
  row: RecommendedRateRow,
  primaryKey: ['date', 'is_brand', 'entity_name'],
  rows: dailyRecommendedRate,
  formula: {
    part: [{ rate: 'recommended_rate', of: 'judged_answers' }],
    whole: ['judged_answers'],
    per: 'entity_name',
  },
  key: ['date', 'is_competitor', 'entity_name'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
