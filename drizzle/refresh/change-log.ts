import { date, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * The keys of raw rows that changed, as they were and as they are. Triggers append to it, and `daily.resolve` empties it.
 * An entry without ids stands for all rows of all sources, from `day` on if it has one.
 */
export const changeLog = daily.table('change_log', {
  source: text().notNull(),
  brand_id: uuid(),
  prompt_id: uuid(),
  answer_id: uuid(),
  model_id: text(),
  market_id: uuid(),
  /** The UTC day of an answer, or of the recording of a citation. */
  day: date(),
})
