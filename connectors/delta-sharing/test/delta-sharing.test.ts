import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Emulator } from '../../../emulator/emulator.ts'
import { SHARE_BASE } from '../../../lib/share/signed-url.ts'
import { addDays } from '../../../site/charts/days.ts'
import { readStreams } from '../../../site/reference/streams.ts'
import type { Row } from '../../../test/fixtures/call.ts'
import { duckdbSetup } from '../../../test/fixtures/duckdb.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../../test/fixtures/hostile-texts.ts'
import { isolatedPool } from '../../../test/fixtures/isolated-database.ts'
import { startOwnService } from '../../../test/fixtures/own-service.ts'
import { brand, refresh } from '../../../test/fixtures/rows.ts'
import { tenant } from '../../../test/fixtures/tenant.ts'
import { environment } from '../../python-environment.ts'
import { type Answered, brandWithAnswers, DAYS } from '../../test-support/answers.ts'
import { runPython } from '../../test-support/python.ts'
import { served } from '../../test-support/served.ts'

// Reads the share with the official client, and its files with DuckDB.

const tables = readStreams().filter(({ kind }) => kind !== 'changes')

/** A day that loses all answers between the two versions, and one that loses a few. */
const CHANGED = { emptied: DAYS.last, changed: addDays(DAYS.last, -1) }

const MONTH = DAYS.last.slice(0, 7)

const { db, url: databaseUrl } = await isolatedPool()

type Frame = { readonly columns: Readonly<Record<string, string>>; readonly rows: readonly Row[] }

let folder: string
let service: Emulator
let its: Answered
/** The rows of the pages at the latest version, under the names of the table's columns. */
const pages = new Map<string, readonly Row[]>()
let results: ReadonlyMap<string, unknown>

beforeAll(async () => {
  process.env.PATH = `${await environment('duckdb')}:${process.env.PATH}`
  folder = await mkdtemp(join(tmpdir(), 'delta-sharing-'))
  service = await startOwnService({ databaseUrl })
  its = await brandWithAnswers(db)
  const empty = await tenant(db)
  const hostile = await brand(db, its.org, HOSTILE_BRAND)
  await addHostileTexts(db, hostile, '2026-10-02')
  const brandIds = [its.brandId, hostile]
  const before = await publish()
  await db.query(
    `delete from answers
     where (answered_at at time zone 'UTC')::date = $1
       or (answered_at at time zone 'UTC')::date = $2 and extract(hour from answered_at at time zone 'UTC') = 0`,
    [CHANGED.emptied, CHANGED.changed],
  )
  await refresh(db)
  const after = await publish()
  for (const stream of tables) {
    const query = { fromDate: DAYS.first }
    const rows = await served(stream, { service: service.url, key: its.key, brandIds, query })
    pages.set(
      stream.name,
      rows.map((row) => (stream.kind === 'brands' ? { brand_id: row.id ?? null, ...row } : row)),
    )
  }

  const day = { op: 'column', name: 'date', valueType: 'date' }
  const last = { op: 'literal', value: `${MONTH}-01`, valueType: 'date' }
  const profile = await writeProfile(its.key)
  const load = (table: string, options = {}) => ({ profile, function: 'load', table, arguments: options })
  const calls = {
    list: { profile, function: 'list', table: '', arguments: {} },
    ...Object.fromEntries(tables.map(({ name }) => [name, load(name)])),
    version: load('visibility', { version: before.version }),
    timestamp: load('visibility', { timestamp: before.committed_at }),
    hints: load('visibility', {
      jsonPredicateHints: JSON.stringify({ op: 'greaterThanOrEqual', children: [day, last] }),
    }),
    changes: { ...load('visibility', { starting_version: before.version + 1 }), function: 'changes' },
    none: { ...load('visibility', { starting_version: after.version + 1 }), function: 'changes' },
    empty: { ...load('visibility'), profile: await writeProfile(empty.key) },
    wrong: { ...load('visibility'), profile: await writeProfile(`${its.key.slice(0, -4)}0000`) },
  }
  const printed = await runPython({
    engine: 'delta-sharing',
    file: new URL('./load.py', import.meta.url),
    input: Object.values(calls),
  })
  if (!Array.isArray(printed)) throw new TypeError('load.py printed no list')
  results = new Map(Object.keys(calls).map((name, index) => [name, printed[index]]))
})

afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

type Version = { readonly version: number; readonly committed_at: string }

/** Publishes, and returns the latest version. */
async function publish(): Promise<Version> {
  await service.runCron('share-publish')
  const { rows } = await db.query<Version>(
    `select version, to_char(committed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as committed_at
     from daily.versions order by version desc limit 1`,
  )
  return rows[0] ?? expect.fail()
}

async function writeProfile(bearerToken: string): Promise<string> {
  const profile = join(folder, `${bearerToken}.share`)
  const endpoint = service.url + SHARE_BASE
  await writeFile(profile, JSON.stringify({ shareCredentialsVersion: 1, endpoint, bearerToken }))
  return profile
}

function frame(name: string): Frame {
  const result = results.get(name)
  const isFrame = (value: unknown): value is Frame =>
    typeof value === 'object' && value !== null && 'rows' in value
  return isFrame(result) ? result : expect.fail(JSON.stringify(result))
}

/** Rows as sorted text. */
const sorted = (rows: readonly Row[] | undefined): string[] =>
  (rows ?? []).map((row) => JSON.stringify(row)).sort()

const TYPES: Readonly<Record<string, string>> = {
  uuid: 'str',
  text: 'str',
  timestamp: 'str',
  date: 'date',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
}

test('lists the tables', () => {
  expect(results.get('list')).toEqual(tables.map(({ name }) => `export.metrics.${name}`).sort())
})

test.for(tables)('$name has the rows of the pages, with their types', ({ name, columns }) => {
  const { columns: loaded, rows } = frame(name)
  const types = columns.map(({ field, type }) => [field, TYPES[type]])
  expect(loaded).toEqual({ brand_id: 'str', ...Object.fromEntries(types) })
  expect(rows.length).toBeGreaterThan(0)
  expect(sorted(rows)).toEqual(sorted(pages.get(name)))
})

test('a version or its time has the rows before the changes, which are deleted and inserted by day', () => {
  const [before, after] = [frame('version').rows, frame('visibility').rows]
  expect(sorted(frame('timestamp').rows)).toEqual(sorted(before))
  const changes = (type: string) =>
    frame('changes')
      .rows.filter(({ _change_type }) => _change_type === type)
      .map(({ _change_type, _commit_version, _commit_timestamp, ...row }) => row)
  const days: readonly unknown[] = Object.values(CHANGED)
  const ofDays = (rows: readonly Row[], isChanged = true) =>
    sorted(rows.filter(({ date }) => days.includes(date) === isChanged))
  expect(changes('insert').length).toBeGreaterThan(0)
  expect(sorted(changes('insert'))).toEqual(ofDays(after))
  expect(sorted(changes('delete'))).toEqual(ofDays(before))
  expect(ofDays(before, false)).toEqual(ofDays(after, false))
  expect(frame('none').rows).toEqual([])
})

test('a table without rows has its columns', () => {
  const { columns, rows } = frame('empty')
  expect([Object.keys(columns), rows]).toEqual([Object.keys(frame('visibility').columns), []])
})

test('hints leave out files', () => {
  const ofMonth = pages.get('visibility')?.filter(({ date }) => String(date).startsWith(MONTH))
  expect(sorted(frame('hints').rows)).toEqual(sorted(ofMonth))
})

test('a wrong key fails with the sentence of the service', () => {
  expect(results.get('wrong')).toEqual({
    error: expect.stringMatching(/401[\s\S]*Send an active export key/),
  })
})

test('DuckDB reads the files of a query', async () => {
  const url = `${service.url}${SHARE_BASE}/shares/export/schemas/metrics/tables/citation_share/query`
  const response = await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${its.key}` } })
  const files = [...(await response.text()).matchAll(/"url":"([^"]+)"/g)].map(([, file]) => `'${file}'`)
  const sql = `select to_json(loaded) from read_parquet([${files}]) as loaded`
  const args = ['-bail', '-list', '-noheader', '-cmd', duckdbSetup(folder), '-c', sql]
  const { stdout } = await promisify(execFile)('duckdb', args, { maxBuffer: 100_000_000 })
  const rows: Row[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(sorted(rows)).toEqual(sorted(pages.get('citation_share')))
})
