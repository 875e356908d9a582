import * as z from 'zod/mini'
import { dailyRecommendedRate } from '../drizzle/daily/recommended-rate.ts'
import { metric } from '../lib/metric.ts'
import { count, day, flag, rate, text } from '../lib/schemas.ts'

export const RecommendedRateRow = z.object({
  date: day('UTC day of the answers.'),
  entity_name: text('Name of the brand or of the competitor.'),
  is_brand: flag('True for the brand, whose row comes first on each date.'),
  recommended_rate: rate('Recommended answers / judged_answers × 100.'),
  judged_answers: count('Counted answers in which the entity was judged; never 0.'),
})

export default metric({
  path: '/recommended-rate',
  summary: 'Recommended rate',
  description: `One row per date and entity that was judged: the brand, then each competitor. Data starts on
2026-09-22. The rate of a period is not the average of its days: recover each day's recommended answers as
round(recommended_rate × judged_answers / 100), then divide the sums.`,
  row: RecommendedRateRow,
  rows: dailyRecommendedRate,
  formula: {
    part: 'sum(round(recommended_rate × judged_answers / 100))',
    whole: 'sum(judged_answers)',
    per: 'entity_name',
  },
  key: ['date', 'is_competitor', 'entity_name'],
})
