import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import type { Emulator } from '../../../emulator/emulator.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { findEndpoints } from '../../fixtures/endpoints.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { isolatedDatabase } from '../../fixtures/isolated-database.ts'
import { startOwnService } from '../../fixtures/own-service.ts'
import { exportKey, refresh } from '../../fixtures/rows.ts'
import { answeredDays, type Scene } from '../../fixtures/scene.ts'

/** Settings that could change texts, the meaning of SQL, or plans, with values that are not the defaults. */
const SETTINGS: Readonly<Record<string, string>> = {
  datestyle: 'SQL, DMY',
  timezone: 'Asia/Kolkata',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  lc_numeric: 'C',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  quote_all_identifiers: 'on',
  transform_null_equals: 'on',
  search_path: 'pg_temp',
  row_security: 'off',
  default_transaction_isolation: 'serializable',
  session_replication_role: 'replica',
  plan_cache_mode: 'force_generic_plan',
  // With joins and index scans off as well, plans say nothing about real ones.
  enable_bitmapscan: 'off',
  enable_hashagg: 'off',
  enable_hashjoin: 'off',
  enable_sort: 'off',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  work_mem: '64kB',
  // Compiling plans that cost as much as those above takes seconds.
  jit: 'off',
  // Before PostgreSQL 16, and since.
  force_parallel_mode: 'on',
  debug_parallel_query: 'on',
  max_parallel_workers_per_gather: '4',
  min_parallel_table_scan_size: '0',
  parallel_setup_cost: '0',
  parallel_tuple_cost: '0',
}

const WINDOW = { fromDate: '2026-10-01', toDate: '2026-11-20' }

const endpoints = await findEndpoints()

/** Applies the settings that this version of Postgres has to new connections. */
const applySettings = (client: pg.Client): Promise<unknown> =>
  client.query(`do $$
    declare setting record;
    begin
      for setting in
        select key, value from json_each_text('${JSON.stringify(SETTINGS)}') join pg_settings on lower(name) = key
      loop
        execute format('alter database %I set %I = %L', current_database(), setting.key, setting.value);
      end loop;
    end $$`)

/** Runs work with a service of its own, whose connections are new. */
async function withService<Result>(
  databaseUrl: string,
  work: (service: Emulator) => Promise<Result>,
): Promise<Result> {
  const service = await startOwnService({ databaseUrl })
  try {
    return await work(service)
  } finally {
    await service.close()
  }
}

function queryOf(path: string, brandId: string): Record<string, string> {
  if (path === '/brands') return {}
  // Without the days that `pagedScene` lists and no metric has.
  return path === '/days' ? { brandId, endpoint: 'citations' } : { brandId, ...WINDOW }
}

/** The responses of every endpoint: all pages, by their cursors, and both files. */
const responses = (databaseUrl: string, { key, brandId }: Scene): Promise<string[]> =>
  withService(databaseUrl, async ({ url }) => {
    const received: string[] = []
    const get = async (path: string, query: Readonly<Record<string, string>>) => {
      const search = new URLSearchParams({ ...queryOf(path, brandId), ...query })
      const headers = { 'User-Agent': randomUUID(), 'X-API-Key': key }
      const response = await fetch(`${url}/api/export/v1${path}?${search}`, { headers })
      const text = await response.text()
      // The time itself is another after each refresh.
      const asOf = response.headers.get('X-Data-As-Of')?.replace(/\d/g, '0')
      const line = `${path}?${search} ${response.status} ${asOf} ${text}`
      // The cursor of a run of days has the time at which it began.
      received.push(line.replaceAll(/\bd[\w-]{100,}/g, 'a cursor'))
      return text
    }
    for (const { path } of endpoints) {
      for (const format of ['csv', 'ndjson']) await get(path, { format })
      let page = JSON.parse(await get(path, {}))
      while (page.pagination?.hasMore) {
        page = JSON.parse(await get(path, { cursor: page.pagination.nextCursor }))
      }
    }
    return received
  })

/** Sets up a brand with more than a page of citations and of changes. */
async function pagedScene(db: pg.Pool): Promise<Scene> {
  const its = await answeredDays(db, { first: '2026-10-01', days: 3 })
  const urls = Array.from({ length: 1001 }, (_, number) => `https://site.example/${number}"\\\u007f`)
  await its.say('2026-10-04T23:59:59Z', { citations: urls.map((url) => ({ url })) })
  await fillDaily(db, { name: 'changes', brandId: its.brandId, rows: 1001, first: '2026-10-05', days: 20 })
  await exportKey(db, its.org, { expires_at: '2027-02-01T12:00:00Z' })
  return its
}

// A database's settings apply to new sessions, and the embedded server has one.
test.runIf(inject('realPostgres'))(
  'settings of the database change no response, no row and no listed key',
  async () => {
    const { url, drop } = await isolatedDatabase()
    const database = new URL(url).pathname.slice(1)
    // Connections that stay open keep the application's search path.
    const db = new pg.Pool({ connectionString: url, idleTimeoutMillis: 0 })
    const run = (command: string, ...args: string[]) =>
      runCommand(`${command}.ts`, args, { DATABASE_URL: url })
    try {
      const its = await pagedScene(db)
      const listKeys = () => run('keys', 'list', '--org', its.org.id, '--user', its.org.owner)
      await refresh(db)
      const keys = await listKeys()
      expect(keys.stdout).toContain('expires 2027-02-01T12:00:00.000Z')
      const expected = await responses(url, its)
      expect(expected.filter((response) => response.includes('&cursor='))).toHaveLength(4)

      await withClient(url, applySettings)
      expect(await listKeys()).toEqual(keys)
      expect(await run('refresh', '--all')).toMatchObject({ code: 0 })
      // The functions do not depend on the role's settings.
      await db.query(`alter role export_api_reader in database ${database} reset datestyle`)
      expect(await responses(url, its)).toEqual(expected)
      // Without the functions, Workers send the text of their statements.
      await db.query('select daily.grant_roles(); drop schema statements cascade')
      expect(await responses(url, its)).toEqual(expected)

      await its.say('2026-10-05T00:00:00Z', { mentions: ['Acme'] })
      await withService(url, (service) => service.runCron('refresh'))
      expect((await run('verify')).stdout).toBe('All rows match.\n')
    } finally {
      await db.end()
      await drop()
    }
  },
  300_000,
)
