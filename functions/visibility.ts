import * as z from 'zod/mini'
import { dailyVisibility } from '../drizzle/metrics/visibility.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, rate, text, uuid } from '../lib/rows/schema.ts'

export const VisibilityRow = z.object({
  date: day('UTC day of the answers.'),
  model_id: text('Identifier of the AI model.'),
  provider: text('Provider of the model. Empty when the model no longer exists.'),
  market_id: uuid('Identifier of the market.'),
  market: text('Name of the market. Empty when the market no longer exists.'),
  total_prompts: count('Counted answers of this day, model and market.'),
  visible_count: count('Answers counted in `total_prompts` that mention the brand.'),
  visibility_rate: rate('`visible_count / total_prompts × 100`.'),
})

export default paged({
  path: '/visibility',
  summary: 'Visibility',
  description: `Returns how many answers mention the brand. One row per date, AI model and market with counted answers.
Rate of a period: \`sum(visible_count) / sum(total_prompts) × 100\`.`,
  row: VisibilityRow,
  primaryKey: ['date', 'model_id', 'market_id'],
  rows: dailyVisibility,
  formula: { part: ['visible_count'], whole: ['total_prompts'], breakdown: 'model_id' },
  key: ['date', 'model_id', 'market_id'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
