import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { callOf, functionName, prepareStatement, toQuery } from '../../lib/prepared-statement.ts'

const STATEMENT = sql`select ${sql.placeholder('one')}, ${sql.placeholder('two')}`

test('a function is named after 32 digits of the SHA-256 of its text, whatever its columns', async () => {
  expect(await functionName(prepareStatement(sql`select 1`, ['a']))).toBe('822ae07d4783158bc1912bb623e5107c')
  expect(await functionName(toQuery(sql`select 1`))).toBe('822ae07d4783158bc1912bb623e5107c')
})

test('a call passes the same parameters to the function and is built once', async () => {
  const query = prepareStatement(STATEMENT, ['a', 'b'])
  const call = await callOf(query)
  const sql = `select * from statements."${await functionName(query)}"($1, $2)`
  expect(call).toMatchObject({ sql, params: query.params })
  expect(await callOf(query)).toBe(call)
})
