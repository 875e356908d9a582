import { expect, test } from 'vitest'
import { sql } from '../../../site/reference/formula.ts'
import { toSql } from '../formulas.ts'
import { generate, outdated, withBlock } from '../generate.ts'

test('the generated parts of the connectors match the OpenAPI document', async () => {
  expect(await outdated(await generate())).toEqual([])
})

test('a block is replaced between its markers, and a missing one is an error', () => {
  const file = 'by hand\n# <generated types>\nold\n# </generated types>\nby hand\n'
  expect(withBlock(file, 'types', 'new\n')).toBe(file.replace('old', 'new'))
  expect(() => withBlock(file, 'keys', '')).toThrow('<generated keys>')
})

// No formula of today has several parts.
test('a formula divides whole sides', () => {
  const formula = { part: ['a', 'b'], whole: ['c', { rate: 'd', of: 'e' }] }
  expect(toSql(formula, sql)).toBe('100.0 * (sum(a) + sum(b)) / nullif(sum(c) + sum(round(d * e / 100)), 0)')
})
