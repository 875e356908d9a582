import * as z from 'zod/mini'
import { dailySentiment } from '../drizzle/metrics/sentiment.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, nullable, rate, weight } from '../lib/rows/schema.ts'

export const SentimentRow = z.object({
  date: day('UTC day of the answers.'),
  positive_mentions: count('Positive phrases about the brand.'),
  neutral_mentions: count('Neutral phrases about the brand. They do not change the score.'),
  negative_mentions: count('Negative phrases about the brand.'),
  positive_weight: weight('Sum of the confidences of the positive phrases.'),
  negative_weight: weight('Sum of the confidences of the negative phrases.'),
  sentiment_score: nullable(
    rate('`positive_weight / (positive_weight + negative_weight) × 100`. Null when both weights are 0.'),
  ),
})

export default paged({
  path: '/sentiment',
  summary: 'Sentiment',
  description: `Returns the sentiment of the phrases about the brand, across all models and markets. One row per date with
such phrases. Score of a period: \`sum(positive_weight) / (sum(positive_weight) + sum(negative_weight)) × 100\`. It is
undefined when both sums are 0.`,
  row: SentimentRow,
  primaryKey: ['date'],
  rows: dailySentiment,
  formula: { part: ['positive_weight'], whole: ['positive_weight', 'negative_weight'] },
  key: ['date'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
