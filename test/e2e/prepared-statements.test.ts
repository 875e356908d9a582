import { afterAll, afterEach, expect, inject, test } from 'vitest'
import { migrateToLatest } from '../../cli/workers/migrate-to-latest.ts'
import { call } from '../fixtures/call.ts'
import { withClient } from '../fixtures/database.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { tenant } from '../fixtures/tenant.ts'

const FUNCTION_CALL = /^select \* from statements\."[0-9a-f]{32}"\(\$1/

const { db, url: databaseUrl } = await isolatedPool()
const its = await tenant(db)
for (const name of ['visibility', 'sentiment']) {
  await fillDaily(db, { name, brandId: its.brandId, rows: 1, first: '2026-11-20', days: 1 })
}

const asked: Promise<{ query: string }>[] = []
let logged: string[] = []
const service = await startOwnService({
  databaseUrl,
  intercept: (server, request) => {
    if (server === 'neon') asked.push(request.clone().json())
    return undefined
  },
  onLog: (line) => logged.push(line),
})
afterAll(() => service.close())

/** The number of rows of a response, and whether each of its statements was a call of a function. */
async function ask(path: string) {
  const query =
    path === '/brands' ? {} : { brandId: its.brandId, fromDate: '2026-11-20', toDate: '2026-11-20' }
  const { data } = await call(path, { service: service.url, key: its.key, query })
  const sent = await Promise.all(asked.splice(0))
  return { rows: data?.length, calls: sent.map(({ query }) => FUNCTION_CALL.test(query)) }
}

afterEach(() => withClient(databaseUrl, migrateToLatest))

// The embedded server has one session, whose rights are its owner's.
const REVOKE = 'revoke usage on schema statements from export_api_reader'

test.for([
  ['the functions are gone', 'drop schema statements cascade; create schema statements'],
  ['their schema is gone', 'drop schema statements cascade'],
  ...(inject('realPostgres') ? [['they may not be run', REVOKE] as const] : []),
] as const)('when %s, a Worker logs it and sends the text of its statement', async ([, sql]) => {
  logged = []
  await db.query(sql)
  expect(await ask('/visibility')).toEqual({ rows: 1, calls: [true, false] })
  const reports = () => logged.filter((line) => line.includes('prepared_statement_missing'))
  await expect.poll(reports).toHaveLength(1)
})

test('previous statements stay next to the current ones', async () => {
  await db.query(
    'create function statements."0123456789abcdef0123456789abcdef"() returns text language sql as $$ select $r$still here$r$ $$',
  )
  await withClient(databaseUrl, migrateToLatest)
  const { rows } = await db.query('select statements."0123456789abcdef0123456789abcdef"() as answer')
  expect(rows).toEqual([{ answer: 'still here' }])
})

test.runIf(inject('realPostgres'))('concurrent migrations run one after the other', async () => {
  await db.query('drop schema statements cascade')
  await Promise.all(Array.from({ length: 6 }, () => withClient(databaseUrl, migrateToLatest)))
  const { rows } = await db.query(
    `select count(*)::int as installed from pg_proc where pronamespace = 'statements'::regnamespace`,
  )
  expect(rows[0].installed).toBeGreaterThan(12)
})

test('the reader role may call them, and no other role may', async () => {
  const { rows } = await db.query<{ name: string; reader: boolean; keys: boolean }>(
    `select proname as name, has_function_privilege('export_api_reader', pg_proc.oid, 'execute') as reader,
       has_function_privilege('export_api_keys', pg_proc.oid, 'execute') as keys
     from pg_proc where pronamespace = 'statements'::regnamespace and proname <> '0123456789abcdef0123456789abcdef'`,
  )
  expect(rows.length).toBeGreaterThan(12)
  expect(rows.filter(({ reader, keys }) => !reader || keys)).toEqual([])
})
