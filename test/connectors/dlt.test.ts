import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../connectors/definition/streams.ts'
import { pull, type Row } from '../support/call.ts'
import { environment } from '../support/environment.ts'
import { type Fault, startFaltering } from '../support/faltering.ts'
import { type Scene, scene } from '../support/scene.ts'
import { database, refresh } from '../support/world.ts'

const CONNECTOR = fileURLToPath(new URL('../../connectors/dlt/', import.meta.url))
const START = '2026-01-01'
const DUCKDB_TYPES = {
  uuid: 'VARCHAR',
  date: 'DATE',
  text: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  json: 'JSON',
}

const db = database()
const bin = await environment('dlt')
const folder = await mkdtemp(join(tmpdir(), 'dlt-'))
const streams = readStreams()
const metrics = streams.filter(({ kind }) => kind === 'metric')
const run = promisify(execFile)

let its: Scene

/** The environment of a program of dlt, whose working folder is in `folder`. */
const env = (key: string) => ({
  PATH: process.env.PATH,
  DLT_DATA_DIR: join(folder, 'dlt'),
  RUNTIME__DLTHUB_TELEMETRY: 'false',
  PYTHONPATH: CONNECTOR,
  EXPORT_API_KEY: key,
})

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs the pipeline. `watch` gets the process, and each line that it prints. */
async function sync(
  { url, key = its.key, args = [] }: { url: string; key?: string; args?: string[] },
  watch: (child: ChildProcess, line: string) => void = () => {},
): Promise<Outcome> {
  const options = ['--destination', 'duckdb', '--dataset', 'export_api', '--database', file('copy.duckdb')]
  const command = [join(CONNECTOR, 'export_api_pipeline.py'), '--base-url', url, '--start-date', START]
  const child = spawn(join(bin, 'python'), [...command, ...options, ...args], { cwd: folder, env: env(key) })
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (data) => {
    stderr += data
  })
  createInterface(child.stdout).on('line', (line) => {
    stdout += `${line}\n`
    watch(child, line)
  })
  watch(child, '')
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}

const file = (name: string) => join(folder, name)

/** Runs SQL in a DuckDB database. Returns the rows of the last statement. */
async function query(name: string, sql: string): Promise<Row[]> {
  const { stdout } = await run(join(bin, 'duckdb'), ['-bail', '-json', file(name), sql])
  return stdout.trim() === '' ? [] : JSON.parse(stdout)
}

const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()

/** Expects that each table of a copy has the service's rows. */
async function expectExact(name: string): Promise<void> {
  for (const { name: table, endpoint, columns } of metrics) {
    const fields = columns.map(({ name }) => name).filter((field) => field !== 'brand_id')
    const copied = await query(name, `select ${fields} from export_api.${table}`)
    const window = { brandId: its.brandId, fromDate: START, toDate: '9999-12-31' }
    const served = await pull(`/${endpoint}`, { key: its.key, query: window })
    expect([table, sorted(copied)]).toEqual([table, sorted(served)])
  }
}

const startProxy = (faults: Fault[][] = []) => startFaltering(inject('serviceUrl'), faults)

beforeAll(async () => {
  its = await scene(db)
  const competitor = await its.rival('Rival')
  await db.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select gen_random_uuid(), $1, $2, $3, timestamptz '2026-01-01T12:00Z' + number * interval '1 day'
     from generate_series(0, 78) as number`,
    [its.prompt, its.model, its.market],
  )
  for (const day of ['2025-12-31', '2026-01-05', '2026-01-06', '2026-02-10', '2026-03-15'])
    await its.say(`${day}T12:00:00Z`, {
      mentions: ['Acme', 'Rival'],
      citations: [{ url: 'https://site.example/', domain: null }],
      phrases: [{ polarity: 'positive', confidence: '0.1001' }],
      judged: [
        { competitor: null, recommended: true },
        { competitor, recommended: false },
      ],
    })
  await refresh(db)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('goes on after it was killed while it fetched and while it loaded', async () => {
  // A first load is /brands, /changes and January. It is killed on the second page of the next load.
  const monthly = 2 + 6 + 2
  let child: ChildProcess | undefined
  const proxy = await startProxy([
    ['dropped', 429, 503],
    ...Array.from({ length: monthly }, () => []),
    [async () => child?.kill('SIGKILL')],
  ])
  const { url, asked } = proxy
  const first = await sync({ url }, (started) => {
    child = started
  })
  expect(first.code).toBeNull()
  const january = [...asked].filter(([target]) => /fromDate=2026-01-0[156]/.test(target))
  await sync({ url }, (started, line) => {
    if (line.includes('- Load')) started.kill('SIGKILL')
  })
  const last = await sync({ url, args: ['--verify'] })
  await proxy.close()
  console.log(last.stdout, [...asked].map(([t, a]) => [decodeURIComponent(t), a.length]))
  expect(last).toMatchObject({ code: 0, stderr: '' })
  expect(january.map(([, agents]) => agents.length)).toEqual(january.map(() => 1))
  await expectExact('copy.duckdb')
})

test('declares the type of each column', async () => {
  const columns = await query(
    'copy.duckdb',
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = 'export_api' and table_name not like '\\_dlt%' escape '\\' and column_name not like '\\_dlt%' escape '\\'`,
  )
  const expected = streams.flatMap(({ name, columns }) =>
    columns.map((column) => ({
      table_name: name,
      column_name: column.name,
      data_type: DUCKDB_TYPES[column.type],
    })),
  )
  expect(sorted(columns)).toEqual(sorted(expected))
})

test('--verify finds a changed number and a deleted row', async () => {
  await query(
    'copy.duckdb',
    `update export_api.sentiment set positive_weight = 0.1 where date = '2026-01-05';
     delete from export_api.visibility where date = '2026-02-10'`,
  )
  const { code, stdout } = await sync({ url: inject('serviceUrl'), args: ['--verify'] })
  expect(code).toBe(1)
  expect(stdout).toMatch(/sentiment of 2026-01-05/)
  expect(stdout).toMatch(/visibility of 2026-02-10/)
  expect(stdout.match(/listed:/g)).toHaveLength(2)
})

test('a wrong key ends it with the sentence of the service', async () => {
  const { code, stderr } = await sync({ url: inject('serviceUrl'), key: 'svc_live_wrong' })
  expect(code).toBe(1)
  expect(stderr).toContain('401: API key missing or invalid.')
})
