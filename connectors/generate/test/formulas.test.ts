import { expect, test } from 'vitest'
import { sql } from '../../../site/reference/formula.ts'
import { readStreams } from '../../../site/reference/streams.ts'
import { dax } from '../dax.ts'
import { dbt } from '../dbt.ts'
import { figuresOf, toSql } from '../formulas.ts'

const streams = readStreams()

test('a figure has the name of its daily rate, and is grouped by what identifies its entity', () => {
  const figures = figuresOf(streams).map(({ name, stream, per }) => [stream.name, name, ...per])
  for (const figure of [
    ['visibility', 'visibility_rate'],
    ['competitors', 'competitor_visibility_rate', 'competitor_name'],
    ['citation_share', 'citation_share'],
    ['sentiment', 'sentiment_score'],
    ['recommended_rate', 'recommended_rate', 'is_brand', 'entity_name'],
  ])
    expect(figures).toContainEqual(figure)
})

test('a formula divides whole sides', () => {
  const formula = { part: ['a', 'b'], whole: ['c', { rate: 'd', of: 'e' }] }
  expect(toSql(formula, sql)).toBe('100.0 * (sum(a) + sum(b)) / nullif(sum(c) + sum(round(d * e / 100)), 0)')
})

// The other formulas sum columns only.
test.each([
  [
    'dbt',
    dbt,
    'cast(100.0 * sum(round(recommended_rate * judged_answers / 100)) / nullif(sum(judged_answers), 0) as double precision)',
  ],
  [
    'DAX',
    dax,
    `IF ( HASONEVALUE ( recommended_rate[is_brand] ) && HASONEVALUE ( recommended_rate[entity_name] ), DIVIDE ( \
SUMX ( recommended_rate, ROUND ( recommended_rate[recommended_rate] * recommended_rate[judged_answers] / 100, 0 ) ), \
SUM ( recommended_rate[judged_answers] ) ) * 100 )`,
  ],
])('%s counts the recommending answers of each row', (_, write, expected) => {
  const texts = write(streams).map(({ text }) => text)
  expect(texts.filter((text) => text.includes(expected))).toHaveLength(1)
})
