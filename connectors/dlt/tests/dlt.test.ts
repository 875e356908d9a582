import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, type ExpectStatic, inject, test } from 'vitest'
import { readStreams } from '../../../reference/streams.ts'
import { startFlakyProxy } from '../../../test/faults/flaky-proxy.ts'
import { pull, type Row } from '../../../test/fixtures/call.ts'
import { daysAgo } from '../../../test/fixtures/clock.ts'
import { database, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene, scene } from '../../../test/fixtures/scene.ts'
import { sorted } from '../../../test/sync/compare-copy.ts'
import { certify } from '../../../tools/certify/certify.ts'
import { daysBefore } from '../../../tools/certify/days.ts'
import { environment } from '../../../tools/certify/python-environment.ts'
import { startPostgres } from '../../test-support/postgres.ts'
import { dltCommand, dltEnvironment } from './dlt.ts'

const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))
const START = '2026-10-01'
const AGENT = 'export-api-dlt/1.0.0'
const streams = readStreams()
const metrics = streams.filter(({ kind }) => kind === 'metric')
const TYPES = {
  uuid: 'VARCHAR',
  date: 'DATE',
  text: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  json: 'JSON',
}
const COLUMNS = streams.flatMap(({ name, columns }) =>
  columns.map((column) => ({ table_name: name, column_name: column.name, data_type: TYPES[column.type] })),
)
// They mostly wait.
const CONCURRENT = { concurrent: true }

const db = database()
const bin = await environment('dlt')
const folder = await mkdtemp(join(tmpdir(), 'dlt-'))
const run = promisify(execFile)

let its: Scene

const env = (key: string) => ({
  ...dltEnvironment(folder, key),
  PYTHONPATH: CONNECTOR,
  PYTHONUNBUFFERED: '1',
})

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs the pipeline. `watch` gets the process, and each line that it prints. */
async function sync(
  { url, args = [] }: { url: string; args?: string[] },
  watch: (child: ChildProcess, line: string) => void = () => {},
): Promise<Outcome> {
  const command = dltCommand({ url, start: START, dataset: 'export_api', file: file('copy.duckdb') })
  const child = spawn(join(bin, 'python'), [...command, ...args], { cwd: folder, env: env(its.key) })
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

/** Runs SQL in the copy. Returns the rows of the last statement. */
async function query(sql: string): Promise<Row[]> {
  const { stdout } = await run(join(bin, 'duckdb'), ['-bail', '-json', file('copy.duckdb'), sql])
  return stdout.trim() === '' ? [] : JSON.parse(stdout)
}

/** Expects that each table of the copy has the service's rows. */
async function expectExact(expect: ExpectStatic): Promise<void> {
  for (const { name: table, endpoint, columns } of metrics) {
    const fields = columns.map(({ name }) => name).filter((field) => field !== 'brand_id')
    const copied = await query(`select ${fields} from export_api.${table}`)
    const window = { brandId: its.brandId, fromDate: START, toDate: '9999-12-31' }
    const served = await pull(`/${endpoint}`, { key: its.key, query: window })
    expect([table, sorted(copied)]).toEqual([table, sorted(served)])
  }
}

beforeAll(async () => {
  its = await answeredDays(db, { first: daysBefore(START, 1), days: 50 })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('keeps the promises of a copy', CONCURRENT, async ({ expect }) => {
  const python = join(bin, 'python')
  const script = join(CONNECTOR, 'export_api_pipeline.py')
  const verdicts = await certify({
    command: `DLT_DATA_DIR=. RUNTIME__DLTHUB_TELEMETRY=false ${python} ${script} --base-url $EXPORT_API_URL \\
      --start-date $EXPORT_API_START_DATE --destination duckdb --dataset export_api --database copy.duckdb`,
    copy: 'duckdb:copy.duckdb',
    schema: 'export_api',
  })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts.length).toBeGreaterThan(10)
})

test('goes on after it was killed, and verifies its copy', CONCURRENT, async ({ expect }) => {
  let child: ChildProcess | undefined
  const october = ['/brands', '/changes', ...metrics.map(({ endpoint }) => `/${endpoint}`)].map(() => [])
  const november = [[], [async () => child?.kill('SIGKILL')]]
  const { url, asked, close } = await startFlakyProxy(inject('serviceUrl'), [...october, ...november])
  const fetching = await sync({ url }, (started) => {
    child = started
  })
  await sync({ url }, (started, line) => {
    if (line.includes('- Load ')) started.kill('SIGKILL')
  })
  const last = await sync({ url, args: ['--verify'] })
  await close()
  expect(fetching.code).toBeNull()
  expect(last).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ requests$/m) })
  const requests = [...asked].flatMap(([target, agents]) =>
    target.includes('toDate=2026-10-31') ? [agents] : [],
  )
  expect(requests).toEqual(metrics.map(() => [AGENT]))
  await expectExact(expect)

  const columns = await query(`select table_name, column_name, data_type from information_schema.columns
    where table_schema = 'export_api' and not starts_with(table_name, '_dlt') and not starts_with(column_name, '_dlt')`)
  expect(sorted(columns)).toEqual(sorted(COLUMNS))

  await query(`update export_api.sentiment set positive_weight = 0.1 where date = '2026-10-05';
    delete from export_api.visibility where date = '2026-11-10'`)
  const { code, stdout } = await sync({ url: inject('serviceUrl'), args: ['--verify'] })
  expect(code).toBe(1)
  expect(stdout.match(/^.*listed: .*$/gm)).toEqual([
    expect.stringMatching(
      /^sentiment of 2026-10-05 of brand .*: 1 rows, .*positive_weight 0.1000; listed: .*positive_weight 0.1001$/,
    ),
    expect.stringMatching(/^visibility of 2026-11-10 of brand .*: 0 rows; listed: 1 rows, /),
  ])
})

// Runs the source for each line of its input: the names of the resources to load. One alone has a limit of days.
const OWN_PIPELINE = `
import os, sys
import dlt
from export_api import export_api_source

pipeline = dlt.pipeline("own", destination=dlt.destinations.postgres(os.environ["DATABASE"]), dataset_name="export_api")
for line in sys.stdin:
    names = line.split()
    max_days = 100 if len(names) == 1 else None
    source = export_api_source(os.environ["SERVICE"], os.environ["EXPORT_API_KEY"], "2020-01-01", max_days=max_days)
    pipeline.run(source.with_resources(*names))
    print("loaded", flush=True)
`

test(
  'a run of the source alone is a whole sync, of the chosen resources',
  CONCURRENT,
  async ({ expect, onTestFinished }) => {
    await chmod(folder, 0o755)
    const postgres = await startPostgres(folder)
    onTestFinished(async () => {
      await postgres.stop()
    })
    await writeFile(file('own.py'), OWN_PIPELINE)
    const { org, key, brandId, say } = await scene(db)
    const DATABASE = `postgresql://postgres:x@localhost/postgres?host=${postgres.home}`
    const child = spawn(join(bin, 'python'), [file('own.py')], {
      cwd: folder,
      env: { ...env(key), SERVICE: inject('serviceUrl'), DATABASE },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill())
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const client = new pg.Client({ host: postgres.home, user: 'postgres' })
    await client.connect()
    onTestFinished(() => client.end())

    /** Loads resources. Returns the days of the copy that have rows, by table. */
    async function load(...resources: readonly string[]): Promise<Record<string, string[]>> {
      await refresh(db)
      child.stdin.write(`${resources.join(' ')}\n`)
      await lines.next()
      const tables = resources.filter((name) => name !== 'changes')
      const days = tables.map(async (table) => {
        const { rows } = await client.query(
          `select date::text || ' ' || sum(citations) as day from export_api.${table} where brand_id = $1 group by date order by date`,
          [brandId],
        )
        return [table, rows.map(({ day }) => day)] as const
      })
      return Object.fromEntries(await Promise.all(days))
    }

    const recent = daysAgo(10)
    const cites = (...urls: readonly string[]) => ({
      citations: urls.map((url) => ({ url: `https://${url}/` })),
    })
    await say('2025-11-03T12:00:00Z', cites('a', 'b'))
    const emptied = await say('2025-11-04T12:00:00Z', cites('a'))
    await say('2025-11-05T12:00:00Z', cites('a'))
    await say(`${recent}T12:00:00Z`, cites('a'))
    const all = ['2025-11-03 2', '2025-11-04 1', '2025-11-05 1', `${recent} 1`]
    expect(await load('citations')).toEqual({ citations: all })
    expect(await load('changes', 'citations', 'citation_share')).toEqual({
      citations: all,
      citation_share: all,
    })

    // The days that the first run listed without this table are in it.
    const listed = await client.query('select endpoint from export_api.changes where brand_id = $1', [
      brandId,
    ])
    const changes = await pull('/changes', { key, query: { brandId, fromDate: '2020-01-01' } })
    expect(listed.rows.map(({ endpoint }) => endpoint).sort()).toEqual(
      changes.map(({ endpoint }) => endpoint).sort(),
    )

    // A day empties, and the plan no longer reaches another one that changes.
    await db.query('delete from answers where id = $1', [emptied])
    expect(await load('citations')).toEqual({ citations: all.toSpliced(1, 1) })
    await db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [org.id])
    await say('2025-11-03T12:00:00Z', cites('c'))
    await say(`${recent}T12:00:00Z`, cites('c'))
    const lowered = ['2025-11-03 2', '2025-11-05 1', `${recent} 2`]
    expect(await load('citations')).toEqual({ citations: lowered })
    await db.query(`update subscriptions set plan = 'enterprise' where organization_id = $1`, [org.id])
    const whole = ['2025-11-03 3', ...lowered.slice(1)]
    expect(await load('citations', 'citation_share')).toEqual({ citations: whole, citation_share: whole })
  },
)
