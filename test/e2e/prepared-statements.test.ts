import { afterEach, expect, inject, test } from 'vitest'
import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import type { Emulator } from '../../emulator/start.ts'
import { call } from '../support/call.ts'
import { withClient } from '../support/database.ts'
import { isolatedPool } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { tenant } from '../support/tenant.ts'

const FUNCTION_CALL = /^select \* from statements\."[0-9a-f]{32}"\(\$1/

const { db, url: databaseUrl } = await isolatedPool()
const its = await tenant(db)

let service: Emulator | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
  await withClient(databaseUrl, migrateToLatest)
})

/** New isolates: what they send to the database, and what they log. */
async function fresh() {
  const asked: Promise<{ query: string }>[] = []
  const logged: string[] = []
  service = await startOwnService({
    databaseUrl,
    intercept: (server, request) => {
      if (server === 'neon') asked.push(request.clone().json())
      return undefined
    },
    onLog: (line) => logged.push(line),
  })
  const { url } = service
  const ask = async (path: string) => {
    const query = path === '/brands' ? {} : { brandId: its.brandId }
    const { status } = await call(path, { service: url, key: its.key, query })
    const sent = await Promise.all(asked.splice(0))
    return { status, calls: sent.map(({ query }) => FUNCTION_CALL.test(query)) }
  }
  return { ask, reports: () => logged.filter((line) => line.includes('prepared_statement_missing')) }
}

test('a page and the listing call the functions of their statements', async () => {
  const { ask, reports } = await fresh()
  expect(await ask('/visibility')).toEqual({ status: 200, calls: [true] })
  expect(await ask('/brands')).toEqual({ status: 200, calls: [true] })
  expect(reports()).toEqual([])
})

const REASONS = [
  ['the functions are gone', 'drop schema statements cascade; create schema statements'],
  ['their schema is gone', 'drop schema statements cascade'],
  [
    'they may not be run',
    'do $$ begin if exists (select from pg_roles where rolname = $r$export_api_reader$r$) then revoke usage on schema statements from export_api_reader; end if; end $$',
  ],
] as const

// The embedded server has one session, whose rights are its owner's.
const reasons = REASONS.filter(([reason]) => inject('realPostgres') || !reason.includes('may not'))

test.each(
  reasons,
)('when %s, an isolate logs it once and sends the text of its statements', async (_, sql) => {
  const { ask, reports } = await fresh()
  await db.query(sql)
  expect(await ask('/visibility')).toEqual({ status: 200, calls: [true, false] })
  expect(await ask('/visibility')).toEqual({ status: 200, calls: [false] })
  expect(reports()).toHaveLength(1)
  expect(JSON.parse(reports()[0] ?? '')).toEqual({
    event: 'prepared_statement_missing',
    request_id: expect.stringMatching(/./),
  })
})

test('a prepared statement that fails for another reason is not sent again', async () => {
  const { ask, reports } = await fresh()
  await db.query('alter table daily.visibility rename to elsewhere')
  try {
    expect(await ask('/visibility')).toEqual({ status: 503, calls: [true] })
    expect(reports()).toEqual([])
  } finally {
    await db.query('alter table daily.elsewhere rename to visibility')
  }
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
