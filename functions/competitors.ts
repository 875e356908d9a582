import * as z from 'zod/mini'
import { dailyCompetitors } from '../drizzle/metrics/competitors.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, rate, text } from '../lib/rows/schema.ts'

export const CompetitorRow = z.object({
  date: day('UTC day of the answers.'),
  competitor_name: text('Name of the competitor.'),
  total_responses: count('Counted answers of this day, across all models and markets.'),
  competitor_visible_responses: count(
    'Answers counted in `total_responses` that mention the competitor by its name or an alias.',
  ),
  competitor_visibility_rate: rate('`competitor_visible_responses / total_responses × 100`.'),
})

export default paged({
  path: '/competitors',
  summary: 'Competitor visibility',
  description: `Returns how many answers mention each active competitor, measured like the brand's own visibility. One
row per date and competitor, including competitors without mentions. \`total_responses\` repeats in each competitor's
row. Rate of a period, per competitor: \`sum(competitor_visible_responses) / sum(total_responses) × 100\`.`,
  row: CompetitorRow,
  primaryKey: ['date', 'competitor_name'],
  rows: dailyCompetitors,
  formula: {
    part: ['competitor_visible_responses'],
    whole: ['total_responses'],
    per: 'competitor_name',
  },
  key: ['date', 'competitor_name'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
