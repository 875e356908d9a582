import * as z from 'zod/mini'
import { dailyCompetitors } from '../drizzle/daily/competitors.ts'
import { metric } from '../lib/metric.ts'
import { count, day, rate, text } from '../lib/schemas.ts'

export const CompetitorRow = z.object({
  date: day('UTC day of the answers.'),
  competitor_name: text('Name of the tracked competitor.'),
  total_responses: count('Counted answers of this day, over all models and markets.'),
  competitor_visible_responses: count(
    'Of `total_responses`, those that name the competitor or one of its aliases.',
  ),
  competitor_visibility_rate: rate('competitor_visible_responses / total_responses × 100.'),
})

export default metric({
  path: '/competitors',
  summary: 'Visibility of tracked competitors',
  description: `One row per date and active competitor, with the same answers and the same measure as the brand's own
visibility. A competitor that nobody mentioned has a row with 0.`,
  row: CompetitorRow,
  rows: dailyCompetitors,
  formula: {
    part: 'sum(competitor_visible_responses)',
    whole: 'sum(total_responses)',
    per: 'competitor_name',
  },
  key: ['date', 'competitor_name'],
})
