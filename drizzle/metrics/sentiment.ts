import { type SQL, sql } from 'drizzle-orm'
import { check, date, integer, numeric, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily, metrics } from './schema.ts'

const sentimentColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  positive_mentions: integer().notNull(),
  neutral_mentions: integer().notNull(),
  negative_mentions: integer().notNull(),
  positive_weight: numeric({ precision: 18, scale: 4 }).notNull(),
  negative_weight: numeric({ precision: 18, scale: 4 }).notNull(),
  sentiment_score: numeric({ precision: 7, scale: 4 }),
})

/** Not a number on days of a phrase out of range: no such row can be stored. */
const weight = (polarity: SQL): SQL => sql`case
          when bool_and(coalesce(phrase.polarity in ('positive', 'neutral', 'negative') and phrase.confidence between 0 and 1, false))
          then coalesce(sum(phrase.confidence) filter (where phrase.polarity = ${polarity}), 0)
          else 'NaN'
        end`

/** Phrases about the brand by day, and their confidence-weighted score (docs/specification.md). */
export const sentiment = metrics.view('sentiment', sentimentColumns()).as(sql`
    select
      daily.brand_id,
      daily.date,
      daily.positive_mentions,
      daily.neutral_mentions,
      daily.negative_mentions,
      round(daily.positive, 4) as positive_weight,
      round(daily.negative, 4) as negative_weight,
      round(100 * daily.positive / nullif(daily.positive + daily.negative, 0), 4) as sentiment_score
    from (
      select
        counted.brand_id,
        counted.date,
        count(*) filter (where phrase.polarity = 'positive')::int as positive_mentions,
        count(*) filter (where phrase.polarity = 'neutral')::int as neutral_mentions,
        count(*) filter (where phrase.polarity = 'negative')::int as negative_mentions,
        ${weight(sql`'positive'`)} as positive,
        ${weight(sql`'negative'`)} as negative
      from export_source.sentiment_phrases as phrase
      join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id
      group by counted.brand_id, counted.date
    ) as daily
  `)

/** The stored form of `metrics.sentiment`, keyed in the order in which pages are served. */
export const dailySentiment = daily.table('sentiment', sentimentColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date] }),
  check('sentiment_has_known_polarities_and_confidences_from_0_to_1', sql`${table.positive_weight} <> 'NaN'`),
])
