import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { callOf, functionName, prepare, prepareStatement } from '../../lib/prepared-statement.ts'

const TEXT = sql`select ${sql.placeholder('one')}, ${sql.placeholder('two')}`

test('a statement is written out once, with places for its values', () => {
  expect(prepare(TEXT)).toMatchObject({ sql: 'select $1, $2', params: [{ name: 'one' }, { name: 'two' }] })
})

test('a statement that may be held says how many columns it has, and what to send where its answer is too large', () => {
  const smaller = prepareStatement(sql`select 1`, 1)
  expect(smaller).toMatchObject({ sql: 'select 1', columns: 1 })
  expect(smaller).not.toHaveProperty('smaller')
  expect(prepareStatement(TEXT, 2, smaller)).toMatchObject({ columns: 2, smaller })
})

test('a held statement is called with its parameters, by a name that its text alone makes', async () => {
  const query = prepareStatement(TEXT, 2)
  const name = await functionName(query)
  expect(name).toMatch(/^[0-9a-f]{32}$/)
  expect(await functionName(prepareStatement(TEXT, 3))).toBe(name)
  expect(await functionName(prepare(sql`select 1`))).not.toBe(name)
  const call = await callOf(query)
  expect(call).toMatchObject({ sql: `select * from statements."${name}"($1, $2)`, params: query.params })
  expect(await callOf(query)).toBe(call)
})
