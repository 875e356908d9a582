import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { forPg } from '../../drizzle/db/connection-string.ts'

test.for([
  '',
  'secret',
  'mysql://me:secret@db/x',
  ' postgres://me:secret@db/x',
  'postgres://me:secret@',
  'postgres://me:se#cret@db/x',
  'postgres://me:se/cret@db/x',
  'postgres://me:secret@db',
  'postgres://me:secret@db:5432',
  'postgres://me:secret@db:5432/',
  'postgres://me:secret@db/.',
  'postgres://me:secret@db/?sslmode=require',
  'postgres://me:secret@db?dbname=x&database=x',
  'postgres://me:secret@db/#x',
  'postgres://me:secret@/?host=/tmp',
  'postgresql:///',
])('%j is no connection string of a database', (text) => {
  expect(() => forPg(text, 'OWN_URL')).toThrow(
    /^OWN_URL must look like postgresql:\/\/user:password@host:5432\/database\.$/,
  )
})

test.for([
  ['postgres://db/x', 'x'],
  ['postgresql://me:se%2Fcret@db:5432/a%20b', 'a b'],
  ['postgres://me@db/x?host=/tmp', 'x'],
  ['postgres://me@/x?host=/tmp', 'x'],
  ['postgres:///x', 'x'],
] as const)('%s names the database %j', ([text, database]) => {
  expect(new pg.Client({ connectionString: forPg(text) }).database).toBe(database)
})

test.for([
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=no-verify', { rejectUnauthorized: false }],
  ['?sslmode=prefer', {}],
  ['?sslmode=require&channel_binding=require', {}],
  ['?channel_binding=require&sslmode=require', {}],
  ['?sslmode=verify-ca#x', {}],
  ['?sslmode=disable&sslmode=require', {}],
  ['?sslmode=verify-full', {}],
  ['?sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
] as const)('pg reads "%s" without a warning, and checks the certificate unless it says no', ([
  query,
  ssl,
]) => {
  const warn = vi.spyOn(process, 'emitWarning')
  const { connectionParameters } = Object(
    new pg.Client({ connectionString: forPg(`postgres://me@db/x${query}`) }),
  )
  expect(connectionParameters.ssl).toEqual(ssl)
  expect(warn).not.toHaveBeenCalled()
})
