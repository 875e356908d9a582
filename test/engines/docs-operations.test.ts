import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { migrateToLatest } from '../../cli/workers/migrate-to-latest.ts'
import type { Intercept, Service } from '../../emulator/workers/outbound.ts'
import { type Call, call, type Row } from '../fixtures/call.ts'
import { clientWith } from '../fixtures/client-with.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { withClient } from '../fixtures/database.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { partitionAnswers } from '../fixtures/partitions.ts'
import { hasAll } from '../fixtures/programs.ts'
import { scene } from '../fixtures/scene.ts'
import { prepare } from '../fixtures/schema.ts'
import { tenant } from '../fixtures/tenant.ts'
import { sorted } from '../sync/compare-copy.ts'

// Runs the queries of docs/operations.md and docs/alerts/ as they stand there, over lines of the emulator in files as
// Logpush writes them.

const ALERTS = new URL('../../docs/alerts/', import.meta.url)
const blocks = await readCodeBlocks('operations.md')
const [views = ''] = blocks('Query the log', 'sql')
const folder = await mkdtemp(join(tmpdir(), 'docs-operations-'))
afterAll(() => rm(folder, { recursive: true }))

const { db, url: databaseUrl } = await isolatedPool(async (client) => {
  await prepare(client)
  await partitionAnswers(client)
})

let intercept: Intercept = () => undefined
let lines: string[] = []
const service = await startOwnService({
  databaseUrl,
  intercept: (...asked) => intercept(...asked),
  onLog: (line) => lines.push(line),
})
afterAll(() => service.close())

const START = Date.parse('2026-11-23T23:00:00Z')
let records: { EventTimestampMs: number; Logs: object[]; [field: string]: unknown }[] = []

beforeEach(() => {
  intercept = () => undefined
  lines = []
  records = []
})

/** Does some work and records what Workers log meanwhile, as one invocation, when `count` lines have the event. */
async function record(minute: number, event: string, work: () => Promise<unknown>, count = 1): Promise<void> {
  lines = []
  const outcome = await work().then(
    () => 'ok',
    () => 'exception',
  )
  await expect
    .poll(() => lines.filter((line) => line.includes(`"event":"${event}"`)).length)
    .toBeGreaterThanOrEqual(count)
  records.push({
    EventTimestampMs: START + minute * 60_000,
    ScriptName: `export-api-${CRONS.get(work) ?? 'visibility'}`,
    Outcome: outcome,
    Logs: lines.map((line) => ({ Level: 'log', Message: [line], TimestampMs: START + minute * 60_000 })),
  })
}

const runRefresh = () => service.runCron('refresh')
const runPublish = () => service.runCron('share-publish')

/** The scheduled Workers by what runs them. */
const CRONS: ReadonlyMap<() => Promise<unknown>, string> = new Map([
  [runRefresh, 'refresh'],
  [runPublish, 'share-publish'],
])

/** Writes the records to a folder for each day, and returns the rows that each query returns over it. */
async function query(...queries: readonly string[]): Promise<Row[][]> {
  await rm(join(folder, 'logs'), { recursive: true, force: true })
  for (const [index, each] of records.entries()) {
    const date = new Date(each.EventTimestampMs).toISOString().slice(0, 10).replaceAll('-', '')
    await mkdir(join(folder, 'logs', date), { recursive: true })
    await writeFile(join(folder, `logs/${date}/${index}.log.gz`), gzipSync(JSON.stringify(each)))
  }
  return queries.map((each) => {
    const input = `set timezone = 'UTC'; ${views} ${each}`
    const stdout = execFileSync('duckdb', ['-bail', '-json'], { cwd: folder, input, encoding: 'utf8' })
    return stdout.startsWith('[{') ? JSON.parse(stdout) : []
  })
}

/** The alerts that fire. */
async function firing(): Promise<string[]> {
  const files = (await readdir(ALERTS)).sort()
  const alerts = await Promise.all(files.map((file) => readFile(new URL(file, ALERTS), 'utf8')))
  const rows = await query(...alerts)
  return files.filter((_, index) => rows[index]?.length)
}

const its = await scene(db)
const day = { brandId: its.brandId, fromDate: '2026-11-20', toDate: '2026-11-20' }
const request = (more: Call = {}) =>
  call('/visibility', { service: service.url, key: its.key, query: day, ...more })

/** Answers like a server that is away. */
const away =
  (server: Service): Intercept =>
  (asked) =>
    asked === server ? Promise.resolve(new Response('away', { status: 502 })) : undefined

/** Leaves a day that cannot be computed, so that the data lags an hour behind. */
const failDay = () =>
  db.query(`
    alter table daily.visibility add constraint failing check (brand_id <> '${its.brandId}') not valid;
    update daily.progress set as_of = now() - interval '1 hour';
    update answer_mentions set name = name || '!'`)

const repairDay = () =>
  db.query(
    'alter table daily.visibility drop constraint failing; update daily.refresh_queue set retry_at = null',
  )

/** Each alert with its fault. What does not last long enough comes before the first `yield`: no alert fires. */
const FAULTS: Readonly<Record<string, () => AsyncGenerator<void>>> = {
  async *'unhandled-error'() {
    yield
    const unset = await startOwnService({
      databaseUrl,
      vars: { CURSOR_SECRET: '' },
      onLog: (line) => lines.push(line),
    })
    await record(0, 'unhandled_error', () => request({ service: unset.url }))
    await unset.close()
  },
  async *'database-error'() {
    intercept = away('neon')
    for (const minute of [0, 1.5]) await record(minute, 'database_error', request)
    yield
    await record(2, 'database_error', request)
  },
  async *'rate-limit-unavailable'() {
    intercept = away('upstash')
    for (const minute of [0, 1.5]) await record(minute, 'rate_limit_unavailable', request)
    yield
    await record(2, 'rate_limit_unavailable', request)
  },
  async *'prepared-statement-missing'() {
    yield
    await db.query('drop schema statements cascade')
    await record(0, 'prepared_statement_missing', request)
    await withClient(databaseUrl, migrateToLatest)
  },
  async *'refresh-failed'() {
    let failing = 1
    intercept = async (_, asked, genuine) => {
      const { query } = await asked.clone().json()
      if (!query.includes('daily.refresh(') || failing === 0) return genuine()
      failing -= 1
      return Response.json({ message: 'canceling statement', code: '57014' }, { status: 400 })
    }
    // The lane repeats a call that failed with a day at a time. The second failure ends it.
    await record(0, 'database_error', runRefresh)
    yield
    failing = 3
    await record(1, 'database_error', runRefresh, 3)
  },
  async *'refresh-behind'() {
    await failDay()
    for (const minute of [0, 1, 2, 8]) await record(minute, 'refresh_behind', runRefresh)
    yield
    await record(9, 'refresh_behind', runRefresh)
    await repairDay()
  },
  async *'publish-behind'() {
    await record(-10, 'published', runPublish)
    intercept = away('neon')
    for (const minute of [0, 5]) await record(minute, 'database_error', runPublish)
    yield
    // A run that has more to write than it can takes minutes, so its line stands in for it here.
    const behind = JSON.stringify({ event: 'publish_behind', objects: 8001, remedy: 'npm run share:publish' })
    await record(10, 'publish_behind', async () => lines.push(behind))
  },
  async *'day-failed-again'() {
    await failDay()
    await record(0, 'day_failed', runRefresh)
    yield
    await db.query('update daily.refresh_queue set retry_at = null')
    await record(61, 'day_failed', runRefresh)
    await repairDay()
    // The next attempt comes an hour later.
    await record(121, 'request', request)
  },
  async *'tables-untracked'() {
    yield
    await db.query(
      `create table answers_2027 partition of answers for values from ('2027-01-01') to ('2028-01-01')`,
    )
    await record(0, 'tables_untracked', runRefresh)
    await db.query('drop table answers_2027')
  },
}

describe.runIf(hasAll('duckdb'))('the queries of docs/operations.md', () => {
  test('there is a fault for each alert', async () => {
    expect((await readdir(ALERTS)).sort()).toEqual(
      Object.keys(FAULTS)
        .sort()
        .map((name) => `${name}.sql`),
    )
  })

  test.for(Object.entries(FAULTS))('%s fires in its fault alone, and ends', async ([name, fault]) => {
    await its.say('2026-11-20T09:00:00Z', { mentions: ['Acme'] })
    await record(-1, 'request', request)
    await record(-1, 'refreshed', runRefresh)
    const stages = fault()
    await stages.next()
    expect(await firing()).toEqual([])
    await stages.next()
    expect(await firing()).toEqual([`${name}.sql`])
    intercept = () => undefined
    await record(300, 'request', request)
    expect(await firing()).toEqual([])
  })

  test('the views have the last two days, and the members of an error', async () => {
    intercept = away('neon')
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    for (const hours of [-48, -24, 0])
      await record(hours * 60, 'request', () => request({ headers: { traceparent } }))
    const [errors] = await query(
      `select time::date as day, neon_status, source from lines where event = 'database_error' order by day`,
    )
    expect(errors).toEqual(
      ['2026-11-22', '2026-11-23'].map((date) => ({ day: date, neon_status: 502, source: null })),
    )
    const [requests] = await query(`select distinct traceparent from lines where event = 'request'`)
    expect(requests).toEqual([{ traceparent }])
  })

  test('usage has the requests, rows, 429s and last use of each key and day', async () => {
    const [mine, other] = [await tenant(db), await tenant(db)]
    await fillDaily(db, { name: 'visibility', brandId: mine.brandId, rows: 7, first: '2026-11-20', days: 1 })
    const read = () => request({ key: mine.key, query: { ...day, brandId: mine.brandId } })
    for (const minute of [0, 10]) await record(minute, 'request', read)
    await record(20, 'request', () => call('/brands', { service: service.url, key: other.key }))
    const file = `${service.url}/api/export/v1/visibility?${new URLSearchParams({ ...day, brandId: mine.brandId, format: 'csv' })}`
    const download = async () => (await fetch(file, { headers: { 'X-API-Key': mine.key } })).text()
    await record(59, 'file', download)
    // From here on, it is the next day.
    const over = await clientWith(0, service)
    const statuses: number[] = []
    for (const headers of [{}, over, over])
      await record(60, 'request', async () =>
        statuses.push((await call('/brands', { service: service.url, key: other.key, headers })).status),
      )
    expect(statuses).toEqual([200, 429, 429])
    const unknown = `svc_live_${'0'.repeat(64)}`
    await record(61, 'request', () => request({ key: unknown }))
    await record(62, 'request', () => request({ key: 'malformed' }))
    // A file that ends on the day after its request.
    await record(1500, 'file', download)
    records.at(-1)?.Logs.shift()

    const [usage = []] = await query(...blocks('Usage', 'sql'))
    const before = { day: '2026-11-23', '429s': 0 }
    const after = { day: '2026-11-24', '429s': 0 }
    expect(sorted(usage)).toEqual(
      sorted([
        {
          ...before,
          key: mine.keyId,
          organization_id: mine.org.id,
          requests: 3,
          rows: 21,
          last_use: '2026-11-23 23:59:00+00',
        },
        {
          ...before,
          key: other.keyId,
          organization_id: other.org.id,
          requests: 1,
          rows: 1,
          last_use: '2026-11-23 23:20:00+00',
        },
        {
          ...after,
          key: other.keyId,
          organization_id: other.org.id,
          requests: 3,
          rows: 1,
          '429s': 2,
          last_use: '2026-11-24 00:00:00+00',
        },
        {
          ...after,
          key: '5d87f6486d646f95',
          organization_id: null,
          requests: 1,
          rows: 0,
          last_use: '2026-11-24 00:01:00+00',
        },
        {
          day: '2026-11-25',
          key: mine.keyId,
          organization_id: mine.org.id,
          requests: 0,
          rows: 7,
          '429s': 0,
          last_use: '2026-11-25 00:00:00+00',
        },
      ]),
    )
  })
})
