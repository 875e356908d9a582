import { execFileSync } from 'node:child_process'
import { glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { Row } from '../fixtures/call.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { hasAll } from '../fixtures/programs.ts'

// Runs the queries of docs/operations.md and docs/alerts/ as they stand there, over files as Logpush writes them.

const ALERTS = new URL('../../docs/alerts/', import.meta.url)
const START = Date.parse('2026-11-23T23:00:00Z')
const blocks = await readCodeBlocks('operations.md')
const [views = ''] = blocks('Query the log', 'sql')
const folder = await mkdtemp(join(tmpdir(), 'docs-operations-'))
afterAll(() => rm(folder, { recursive: true }))

/** A line of an invocation of a Worker, and the minute after the start. */
type Logged = {
  readonly minute: number
  readonly line: Readonly<Record<string, unknown>>
  readonly worker?: string
  readonly outcome?: string
}

const at = (minutes: readonly number[], event: string, fields: object = {}): Logged[] =>
  minutes.map((minute) => ({ minute, line: { event, ...fields } }))

/** Invocations of a scheduled Worker that fail. */
const failed = (worker: string, ...minutes: number[]): Logged[] =>
  at(minutes, 'database_error').map((each) => ({ ...each, worker, outcome: 'exception' }))

const DAY = { brand_id: 'b', metric: 'visibility', date: '2026-11-20' }

/** Of each alert: lines with which it does not fire, and those that let it fire after them. */
const FAULTS: Readonly<Record<string, readonly [before: Logged[], then: Logged[]]>> = {
  'unhandled-error': [[], at([0], 'unhandled_error')],
  'database-error': [at([0, 1.2, 1.5], 'database_error'), at([2], 'database_error')],
  'rate-limit-unavailable': [at([0, 1.2, 1.5], 'rate_limit_unavailable'), at([2], 'rate_limit_unavailable')],
  'prepared-statement-missing': [[], at([0], 'prepared_statement_missing')],
  'refresh-failed': [[], failed('refresh', 1)],
  'refresh-behind': [at([0, 1, 2, 8, 8.5], 'refresh_behind'), at([9], 'refresh_behind')],
  'publish-behind': [
    [...failed('share-publish', 0, 5), ...at([6], 'published')],
    at([10], 'publish_behind', { objects: 8001 }),
  ],
  'day-failed-again': [
    [...at([0], 'day_failed', DAY), ...at([1], 'day_failed', { ...DAY, metric: 'sentiment' })],
    at([61], 'day_failed', DAY),
  ],
  'tables-untracked': [[], at([0], 'tables_untracked', { tables: 'answers_2027' })],
}

/** Writes invocations to a folder for each day. Returns the rows of a query over them. */
async function query(logged: readonly Logged[], sql: string): Promise<Row[]> {
  await rm(join(folder, 'logs'), { recursive: true, force: true })
  for (const [index, { minute, line, worker = 'visibility', outcome = 'ok' }] of logged.entries()) {
    const time = START + minute * 60_000
    const day = join(folder, 'logs', new Date(time).toISOString().slice(0, 10).replaceAll('-', ''))
    await mkdir(day, { recursive: true })
    const record = {
      EventTimestampMs: time,
      ScriptName: `export-api-${worker}`,
      Outcome: outcome,
      Logs: [{ Level: 'log', Message: [JSON.stringify(line)], TimestampMs: time }],
    }
    await writeFile(join(day, `${index}.log.gz`), gzipSync(JSON.stringify(record)))
  }
  const input = `set timezone = 'UTC'; ${views} ${sql}`
  const stdout = execFileSync('duckdb', ['-bail', '-json'], { cwd: folder, input, encoding: 'utf8' })
  return stdout.startsWith('[{') ? JSON.parse(stdout) : []
}

const names = (await readdir(ALERTS)).sort().map((file) => file.replace('.sql', ''))
const alerts = await Promise.all(names.map((name) => readFile(new URL(`${name}.sql`, ALERTS), 'utf8')))
const ANY_ALERT = alerts
  .map((sql, index) => `(select '${names[index]}' as alert from (${sql.trim().replace(';', '')}) limit 1)`)
  .join(' union all ')

const firing = async (logged: readonly Logged[]) =>
  (await query(logged, `${ANY_ALERT};`)).map(({ alert }) => alert)

test('there is a fault for each alert, and Workers log the event of each', async () => {
  expect(Object.keys(FAULTS).sort()).toEqual(names)
  let sources = ''
  for await (const path of glob('lib/**/*.ts')) sources += await readFile(path, 'utf8')
  for (const [, event] of alerts.join('').matchAll(/event = '(\w+)'/g))
    expect(sources).toContain(`'${event}'`)
})

describe.runIf(hasAll('duckdb'))('the queries of docs/operations.md', () => {
  test.for(Object.entries(FAULTS))('%s fires in its fault alone, and ends', async ([name, lines]) => {
    const [before, then] = lines
    const calm = at([-1], 'request')
    expect(await firing([...calm, ...before])).toEqual([])
    expect(await firing([...calm, ...before, ...then])).toEqual([name])
    expect(await firing([...calm, ...before, ...then, ...at([300], 'request')])).toEqual([])
  })

  test('the views have the last two days', async () => {
    const days = await query(
      at([-48 * 60, -24 * 60, 0], 'request'),
      'select time::date as day from lines order by day',
    )
    expect(days).toEqual([{ day: '2026-11-22' }, { day: '2026-11-23' }])
  })

  test('usage has the requests, rows, 429s and last use of each key and day', async () => {
    const key = { key_hash: 'h', key_id: 'k', organization_id: 'o' }
    const logged = [
      ...at([0, 10], 'request', { ...key, status: 200, rows: 7 }),
      ...at([20], 'request', { key_hash: 'unknown', status: 401 }),
      // A file that ends on the day after its request. A 429 comes before the key is looked up.
      ...at([70], 'file', { key_id: 'k', rows: 9 }),
      ...at([80], 'request', { key_hash: 'h', status: 429 }),
      ...at([90], 'request', { status: 401 }),
    ]
    const [usage = ''] = blocks('Usage', 'sql')
    const row = (day: string, fields: object) => ({ day, key: 'k', organization_id: 'o', ...fields })
    expect(await query(logged, usage)).toEqual([
      row('2026-11-23', { requests: 2, rows: 14, '429s': 0, last_use: '2026-11-23 23:10:00+00' }),
      {
        ...row('2026-11-23', { requests: 1, rows: 0, '429s': 0, last_use: '2026-11-23 23:20:00+00' }),
        ...{ key: 'unknown', organization_id: null },
      },
      row('2026-11-24', { requests: 1, rows: 9, '429s': 1, last_use: '2026-11-24 00:20:00+00' }),
    ])
  })
})
