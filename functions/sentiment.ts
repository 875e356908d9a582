import * as z from 'zod/mini'
import { dailySentiment } from '../drizzle/daily/sentiment.ts'
import { metric } from '../lib/metric.ts'
import { count, day, nullable, rate, weight } from '../lib/schemas.ts'

export const SentimentRow = z.object({
  date: day('UTC day of the answers.'),
  positive_mentions: count('Positive phrases about the brand.'),
  neutral_mentions: count('Neutral phrases; they do not move the score.'),
  negative_mentions: count('Negative phrases.'),
  positive_weight: weight('Sum of the confidences of the positive phrases.'),
  negative_weight: weight('Sum of the confidences of the negative phrases.'),
  sentiment_score: nullable(
    rate('positive_weight / (positive_weight + negative_weight) × 100; null when both weights are 0.'),
  ),
})

export default metric({
  path: '/sentiment',
  summary: 'Daily brand sentiment',
  description: `One row per date that has phrases about the brand, over all markets. The score of a window is
sum(positive_weight) / (sum(positive_weight) + sum(negative_weight)) × 100, without a value when both sums are 0; do not
average daily scores.`,
  row: SentimentRow,
  rows: dailySentiment,
  formula: { part: 'sum(positive_weight)', whole: 'sum(positive_weight) + sum(negative_weight)' },
  key: ['date'],
})
