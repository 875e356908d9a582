import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { callOf, functionName, renderStatement } from '../../lib/database/statement.ts'

const ONE = renderStatement(sql`select 1`)
const TWO = renderStatement(sql`select ${sql.placeholder('one')}, ${sql.placeholder('two')}`)

test('a rendered statement names the values of its parameters', () => {
  expect(TWO).toEqual({ sql: 'select $1, $2', parameters: ['one', 'two'] })
  expect(() => renderStatement(sql`select ${1}`)).toThrow('Write the constants of a statement with sql.raw')
})

test('a function is named after 32 digits of the SHA-256 of its text', async () => {
  expect(await functionName(ONE)).toBe('822ae07d4783158bc1912bb623e5107c')
})

test('a call passes the same parameters to the function and is built once', async () => {
  const call = await callOf(TWO)
  const text = `select * from statements."${await functionName(TWO)}"($1, $2)`
  expect(call).toEqual({ sql: text, parameters: TWO.parameters })
  expect(await callOf(TWO)).toBe(call)
})
