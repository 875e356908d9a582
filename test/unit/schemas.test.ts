import { expect, test } from 'vitest'
import { CompetitorRow } from '../../functions/competitors.ts'
import { SentimentRow } from '../../functions/sentiment.ts'
import { totalsOf } from '../../lib/schemas.ts'

test('counts and weights add up, rates do not', () => {
  expect(totalsOf(CompetitorRow)).toEqual(['total_responses', 'competitor_visible_responses'])
  expect(totalsOf(SentimentRow)).toEqual([
    'positive_mentions',
    'neutral_mentions',
    'negative_mentions',
    'positive_weight',
    'negative_weight',
  ])
})
