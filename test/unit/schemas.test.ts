import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { count, day, nullable, rate, totalsOf, weight } from '../../lib/rows/schema.ts'

test('counts and weights add up, rates do not', () => {
  const row = z.object({
    date: day('UTC day.'),
    answers: count('Answers.'),
    share: rate('Share.'),
    confidence: weight('Confidence.'),
    score: nullable(rate('Score.')),
  })
  expect(totalsOf(row)).toEqual(['answers', 'confidence'])
})
