import { sql } from 'drizzle-orm'
import { check, index, numeric, pgTable, text } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { id, partOf } from './columns.ts'

export const sentimentPhrases = pgTable(
  'sentiment_phrases',
  {
    id: id(),
    answer_id: partOf(() => answers.id),
    polarity: text({ enum: ['positive', 'neutral', 'negative'] }).notNull(),
    confidence: numeric({ precision: 5, scale: 4 }).notNull(),
  },
  (table) => [
    index().on(table.answer_id),
    check('sentiment_phrases_polarity', sql`${table.polarity} in ('positive', 'neutral', 'negative')`),
    check('sentiment_phrases_confidence', sql`${table.confidence} between 0 and 1`),
  ],
)
