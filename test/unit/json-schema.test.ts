import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { count, instant, nullable, rate } from '../../lib/rows/schema.ts'
import { jsonSchema } from '../../site/reference/openapi/json-schema.ts'

test('a nullable schema has a list of types, and keeps what else its value has', () => {
  expect(jsonSchema(nullable(rate('A share.')))).toEqual({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 100,
    description: 'A share. A percentage with four decimals.',
  })
  expect(jsonSchema(nullable(instant('A time.')))).toEqual({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'A time.',
  })
  const described = nullable(z.string().check(z.regex(/^c$/))).check(z.meta({ description: 'Outside.' }))
  expect(jsonSchema(described)).toEqual({ type: ['string', 'null'], pattern: '^c$', description: 'Outside.' })
  expect(jsonSchema(nullable(z.enum(['a', 'b'])))).toEqual({
    type: ['string', 'null'],
    enum: ['a', 'b', null],
  })
})

test('integers have the bounds of 32 bits', () => {
  expect(jsonSchema(count('A count.'))).toEqual({
    type: 'integer',
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'A count.',
    'x-aggregation': 'sum',
  })
  expect(jsonSchema(z.literal(1000))).toEqual({ type: 'integer', const: 1000 })
})
