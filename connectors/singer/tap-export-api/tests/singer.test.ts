import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { readStreams } from '../../../../site/reference/streams.ts'
import { database, refresh } from '../../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../../test/fixtures/scene.ts'
import { certifyAll } from '../../../certify/certify.ts'
import { environment } from '../../../python-environment.ts'
import { readMetrics } from '../../../test-support/exact-models.ts'
import { startPostgres } from '../../../test-support/postgres.ts'

type Message = {
  readonly type: string
  readonly stream: string
  readonly value: object
  readonly record: { readonly brand_id?: string; readonly date?: string; readonly changed_at: string }
}

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const TABLES = readStreams().flatMap(({ kind, name }) => (kind === 'changes' ? [] : name))
const db = database()

let bin: string
let folder: string
let its: Scene

beforeAll(async () => {
  bin = await environment('singer')
  folder = await mkdtemp(join(tmpdir(), 'singer-'))
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  its = await answeredDays(db, { first: '2026-10-01', days: 3 })
  // A day of more than 4 MB, which comes in parts.
  const citations = Array.from({ length: 600 }, (_, number) => ({
    url: `https://large.example/${number}${'.'.repeat(8000)}`,
    domain: null,
  }))
  await its.say('2026-10-02T12:00:00Z', { citations })
  await refresh(db)
  return () => rm(folder, { recursive: true })
})

async function run(program: string, args: readonly string[], variables: object = {}): Promise<string> {
  // With this locale, Python's default encoding is not UTF-8.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', PYTHONUTF8: '0', PYTHONCOERCECLOCALE: '0', ...variables }
  const options = { cwd: PACKAGE, env, maxBuffer: Number.POSITIVE_INFINITY }
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${program} failed:\n${error.stdout.slice(-4000)}${error.stderr.slice(-4000)}`)
  })
  return stdout
}

test('the tests of the Singer SDK pass', async () => {
  const variables = { EXPORT_API_URL: inject('serviceUrl'), EXPORT_API_KEY: its.key }
  const output = await run(join(bin, 'pytest'), ['-q', '-p', 'no:cacheprovider'], variables)
  expect(output).toMatch(/\d+ passed/)
  expect(output).not.toMatch(/failed|skipped/)
})

/** Runs the tap from a state. Returns its messages. */
async function tap(state: object = {}, variables: object = {}): Promise<Message[]> {
  const file = join(folder, 'state.json')
  await writeFile(file, JSON.stringify(state))
  const output = await run(join(bin, 'tap-export-api'), ['--config=ENV', '--state', file], {
    TAP_EXPORT_API_BASE_URL: inject('serviceUrl'),
    TAP_EXPORT_API_API_KEY: its.key,
    ...variables,
  })
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Returns what a target has of messages: the last record of each key. */
const upsert = (messages: readonly Message[]) =>
  new Map(
    messages.flatMap(({ type, stream, record }) =>
      type === 'RECORD' ? [[[stream, record.brand_id, record.date].join(), record]] : [],
    ),
  )

test('a run goes on exactly from each state of another one', async () => {
  const messages = await tap()
  const complete = upsert(messages)
  const states = messages.flatMap(({ type, value }, index) => (type === 'STATE' ? [{ value, index }] : []))
  expect(states.length).toBeGreaterThan(6)
  for (const { value, index } of states)
    expect(upsert([...messages.slice(0, index), ...(await tap(value))])).toEqual(complete)
  // Another start_date begins again.
  const later = await tap(states.at(-1)?.value, { TAP_EXPORT_API_START_DATE: '2026-10-03' })
  expect(new Set(later.flatMap(({ record }) => record?.date ?? []))).toEqual(new Set(['2026-10-03']))
})

test('copies in PostgreSQL, DuckDB and ClickHouse are exact', async () => {
  const { home, stop } = await startPostgres(folder)
  onTestFinished(async () => void (await stop()))
  const config = async (name: string, settings: object) => {
    const file = join(folder, `${name}.json`)
    await writeFile(file, JSON.stringify(settings))
    return file
  }
  const sync = join(PACKAGE, 'tests/sync.sh')
  const copy = `postgres://postgres@/postgres?host=${home}`
  const postgres = [
    ...[sync, join(bin, 'tap-export-api'), join(bin, 'target-postgres')],
    await config('target-postgres', {
      sqlalchemy_url: copy.replace('postgres:', 'postgresql+psycopg:'),
      default_target_schema: 'export_api_days',
    }),
    ...['psql', '-qd', copy, '-f', join(PACKAGE, 'views/postgres.sql')],
  ]
  const files = join(folder, 'export')
  const file = join(folder, 'copy.duckdb')
  const views = await readFile(join(PACKAGE, 'views/duckdb.sql'), 'utf8')
  await writeFile(join(folder, 'duckdb.sql'), views.replace("'export/", `'${files}/`))
  const duckdb = [
    ...[sync, join(bin, 'tap-export-api'), join(await environment('target-jsonl'), 'target-jsonl')],
    await config('target-jsonl', { destination_path: files }),
    ...[join(await environment('duckdb'), 'duckdb'), file, `'.read ${join(folder, 'duckdb.sql')}'`],
  ]
  const schema = 'export_api'
  const verdicts = await certifyAll([
    { command: postgres.join(' '), copy, schema },
    { command: duckdb.join(' '), copy: `duckdb:${file}`, schema },
  ])
  expect(verdicts.flat().filter(({ kept }) => !kept)).toEqual([])

  // A brand leaves.
  const sql = 'update export_api_days.brands set brands = jsonb_build_array(brands -> 0) returning brands'
  const brands = JSON.parse(await run('psql', ['-qtAd', copy, '-c', sql]))
  await writeFile(join(files, 'brands-99991231T000000.jsonl'), JSON.stringify({ id: 'brands', brands }))
  const inPostgres = await readMetrics({ copy, schema, folder })
  const brandIds = inPostgres.visibility?.map((row) => JSON.parse(row)[0])
  expect(new Set(brandIds)).toEqual(new Set([brands[0].id]))

  const rows = join(folder, 'clickhouse')
  await mkdir(rows)
  const script = [join(PACKAGE, 'tests/clickhouse.py'), join(PACKAGE, 'views/clickhouse.sql')]
  await run(join(await environment('recipes'), 'python'), [...script, files, rows, ...TABLES])
  expect(await readMetrics({ copy: `jsonl:${rows}`, folder })).toEqual(inPostgres)

  // What a target leaves that is killed.
  await writeFile(join(files, 'brands-99991231T000001.jsonl'), '{"id": "brands", "brands": [')
  expect(await readMetrics({ copy: `duckdb:${file}`, schema, folder })).toEqual(inPostgres)
}, 1_200_000)
