import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, inject, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call, type Row } from '../../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { hasAll } from '../../../test/fixtures/programs.ts'
import { database, exportKey, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { certifyAll } from '../../certify/certify.ts'
import { compare, textsOf } from '../../certify/compare.ts'
import { copyReader } from '../../certify/copies.ts'
import type { Options } from '../../certify/subject.ts'
import { environment } from '../../python-environment.ts'
import { startPostgres } from '../../test-support/postgres.ts'
import { runPython } from '../../test-support/python.ts'
import { served } from '../../test-support/served.ts'
import { startS3 } from '../../typescript/test/s3-server.ts'
import { dltEnvironment, SOURCES } from './dlt.ts'

const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))
const LOAD = fileURLToPath(new URL('load.py', import.meta.url))
const START = '2026-10-01'
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')

const db = database()
const bin = await environment('dlt')
const python = join(bin, 'python')
const folder = await mkdtemp(join(tmpdir(), 'dlt-'))
const run = promisify(execFile)

let its: Scene

beforeAll(async () => {
  // The user of PostgreSQL enters it.
  await chmod(folder, 0o755)
  its = await answeredDays(db, { first: START, days: 40 })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A command of certify. The variables are those of a destination. */
const command = (program: string, variables: Readonly<Record<string, string>> = {}): string => {
  const settings = Object.entries({ ...variables, RUNTIME__DLTHUB_TELEMETRY: 'false', PYTHONPATH: SOURCES })
  return `export ${settings.map(([name, value]) => `${name}='${value}'`).join(' ')} DLT_DATA_DIR=. \\
    SOURCES__EXPORT_API__BASE_URL="$EXPORT_API_URL" SOURCES__EXPORT_API__API_KEY="$EXPORT_API_KEY" \\
    SOURCES__EXPORT_API__START_DATE="$EXPORT_API_START_DATE"; ${python} ${program}`
}

/** Rows in the order of their texts, with their fields in one order. */
const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()

test('keeps the promises of a copy in DuckDB, PostgreSQL and a bucket', {
  timeout: 1_800_000,
}, async (context) => {
  const { expect, onTestFinished } = context
  const postgres = await startPostgres(folder)
  onTestFinished(async () => void (await postgres.stop()))
  const server = `postgresql://postgres:none@localhost/postgres?host=${postgres.home}`
  const loaders: Options[] = [
    {
      command: command(join(SOURCES, 'export_api_pipeline.py')),
      copy: 'duckdb:export_api_pipeline.duckdb',
      schema: 'export_api',
    },
    {
      command: command(`${LOAD} postgres`, {
        DESTINATION__POSTGRES__CREDENTIALS: server,
        PAGES_OF_A_LOAD: '1',
      }),
      copy: server,
      schema: 'export_api',
    },
  ]
  if (hasAll('versitygw')) {
    const s3 = await startS3()
    onTestFinished(s3.close)
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = s3.env
    const variables = {
      ...{ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION: 'us-east-1' },
      ...{ AWS_ENDPOINT_URL: s3.url, AWS_ALLOW_HTTP: 'true' },
      DESTINATION__FILESYSTEM__BUCKET_URL: s3.location,
      DESTINATION__FILESYSTEM__CREDENTIALS__AWS_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID,
      DESTINATION__FILESYSTEM__CREDENTIALS__AWS_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY,
      DESTINATION__FILESYSTEM__CREDENTIALS__ENDPOINT_URL: s3.url,
      DESTINATION__FILESYSTEM__CREDENTIALS__REGION_NAME: 'us-east-1',
    }
    loaders.push({ command: command(`${LOAD} filesystem`, variables), copy: 'jsonl:copy' })
  }
  for (const verdicts of await certifyAll(loaders)) {
    expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
    expect(verdicts.length).toBeGreaterThan(10)
    expect(verdicts[1]?.requests).toBe(2)
  }
})

const COPIES = { duckdb: 'duckdb:copy.duckdb', filesystem: 'jsonl:copy' } as const

/** Makes a copy in a folder of its own. */
async function startCopy(destination: keyof typeof COPIES) {
  const cwd = await mkdtemp(join(folder, `${destination}-`))
  const lake = join(cwd, 'lake')
  const read = copyReader({ copy: COPIES[destination], schema: 'export_api', folder: cwd })
  return {
    cwd,
    lake,
    load: ({
      failure = [],
      start = START,
      key = its.key,
    }: {
      failure?: readonly string[]
      start?: string
      key?: string
    } = {}) =>
      run(python, [LOAD, destination, ...failure], {
        cwd,
        env: {
          ...dltEnvironment({ url: inject('serviceUrl'), key, start, folder: cwd }),
          DESTINATION__FILESYSTEM__BUCKET_URL: lake,
        },
      }),
    brands: async () => (await read(['brands'])).get('brands')?.rows,
    /** Returns how the copy differs from the service. */
    differences: async (fromDate = START) => {
      const access = { key: its.key, brandIds: [its.brandId], query: { fromDate, toDate: '9999-12-31' } }
      const tables = await Promise.all(
        STREAMS.map(async (stream) => [stream.name, await served(stream, access)] as const),
      )
      return compare(STREAMS, textsOf(STREAMS, new Map(tables)), await read(STREAMS.map(({ name }) => name)))
    },
  }
}

/** Adds an answer to a day. */
async function edit(day: string): Promise<void> {
  await its.say(`${day}T12:00:00Z`, {
    mentions: ['Acme'],
    phrases: [{ polarity: 'negative', confidence: '0.2' }],
  })
  await refresh(db)
}

test.for([
  'duckdb',
  'filesystem',
] as const)('goes on after a kill between rows and cursor in %s, and with a key without brands', async (destination, {
  expect,
}) => {
  const copy = await startCopy(destination)
  await copy.load()
  await edit('2026-10-05')
  await expect(copy.load({ failure: ['kill'] })).rejects.toMatchObject({ signal: 'SIGKILL' })
  await copy.load()
  expect(await copy.differences()).toEqual([])
  const { key } = await exportKey(db, its.org, { brand_ids: [] })
  await copy.load({ key })
  expect(await copy.brands()).toEqual([])
})

test('goes on after loads that fail, and loads what an earlier start_date adds', async ({ expect }) => {
  const copy = await startCopy('duckdb')
  const file = join(copy.cwd, 'copy.duckdb')
  const sql = (statement: string) => run(join(bin, 'duckdb'), ['-bail', '-json', file, statement])
  const later = '2026-10-02'
  await copy.load({ start: later })
  expect(await copy.differences(later)).toEqual([])

  await edit('2026-10-06')
  await sql('alter table export_api.sentiment rename positive_mentions to renamed')
  await expect(copy.load({ start: later })).rejects.toThrow(/positive_mentions/)
  await sql('alter table export_api.sentiment rename renamed to positive_mentions')
  await edit('2026-10-08')
  await copy.load({ start: later })
  expect(await copy.differences(later)).toEqual([])

  await edit('2026-10-07')
  const other = spawn(join(bin, 'duckdb'), [file])
  other.stdin.write('select 1;\n')
  await once(other.stdout, 'data')
  await expect(copy.load({ start: later })).rejects.toThrow(/lock/)
  other.kill()
  await once(other, 'close')
  await copy.load()
  expect(await copy.differences()).toEqual([])

  const { stdout } = await sql(`select endpoint, brand_id, date, digest, row_count,
    strftime(changed_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') as changed_at from export_api.days`)
  const { data } = await call('/days', { key: its.key, query: { fromDate: START } })
  expect(data.length).toBeGreaterThan(200)
  const proofs = data.map(({ causes, offset, rows, ...proof }) => proof)
  expect(sorted(JSON.parse(stdout))).toEqual(sorted(proofs))
})

test('the queries of the README read Delta tables', async ({ expect }) => {
  const copy = await startCopy('filesystem')
  await copy.load()
  const blocks = await readCodeBlocks('../connectors/dlt/sources/export_api/README.md')
  const [sql, python] = ['sql', 'python'].map((language) =>
    blocks('Delta tables', language).join('').replaceAll('s3://bucket', copy.lake),
  )
  const { types, duckdb, pandas, polars } = Object(
    await runPython({
      engine: 'delta',
      file: new URL('read_delta.py', import.meta.url),
      input: { sql, python },
    }),
  )
  const rows = await its.rows('/visibility', START, '2026-11-09')
  expect(rows.length).toBeGreaterThan(30)
  const expected = sorted(rows.map((row) => ({ brand_id: its.brandId, ...row })))
  const texts = Array(4).fill('VARCHAR')
  expect(types).toEqual(['VARCHAR', 'DATE', ...texts, 'BIGINT', 'BIGINT', 'DOUBLE'])
  for (const read of [duckdb, pandas, polars]) expect(sorted(read)).toEqual(expected)
})

test('dlt init copies it into a project', async ({ expect }) => {
  const project = await mkdtemp(join(folder, 'project-'))
  const args = ['--non-interactive', 'init', 'export_api', 'postgres', '--location', CONNECTOR]
  const env = dltEnvironment({ url: '', key: '', start: START, folder: project })
  await run(join(bin, 'dlt'), args, { cwd: project, env: { ...env, HOME: project } })
  expect(await readdir(join(project, 'export_api'))).toEqual(
    expect.arrayContaining(['README.md', '__init__.py', 'streams.json']),
  )
  expect(await readFile(join(project, 'export_api_pipeline.py'), 'utf8')).toContain(`destination='postgres'`)
  expect(await readFile(join(project, 'requirements.txt'), 'utf8')).toMatch(/^dlt\[postgres\]/)
})
