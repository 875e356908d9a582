import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { startFlakyProxy } from '../../../test/faults/flaky-proxy.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { startTlsServer } from '../../../test/fixtures/tls-server.ts'
import { certify } from '../../certify/certify.ts'
import { daysBefore } from '../../certify/organization.ts'
import { environment } from '../../python-environment.ts'
import { PYTHON_TESTS } from '../../test-support/python.ts'
import { dltEnvironment, SOURCES } from './dlt.ts'

const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))
const START = '2026-10-01'
const AGENT = 'export-api-dlt/1.0.0'
const metrics = readStreams().filter(({ kind }) => kind === 'metric')
// They mostly wait.
const CONCURRENT = { concurrent: true }

const db = database()
const bin = await environment('dlt')
const folder = await mkdtemp(join(tmpdir(), 'dlt-'))
const run = promisify(execFile)

let its: Scene

const PIPELINE = join(SOURCES, 'export_api_pipeline.py')

const env = (url: string, key: string) => ({
  ...dltEnvironment({ url, key, start: START, folder }),
  PYTHONPATH: SOURCES,
  PYTHONUNBUFFERED: '1',
})

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

// Loads October first. A day has seven rows.
const SYNC = 'import export_api_pipeline; export_api_pipeline.MAX_ROWS = 31 * 7; export_api_pipeline.main()'

/** Runs the pipeline. `watch` gets the process, and each line that it prints. */
async function sync(
  {
    url,
    key = its.key,
    args = [],
    variables = {},
  }: { url: string; key?: string; args?: string[]; variables?: Record<string, string> },
  watch: (child: ChildProcess, line: string) => void = () => {},
): Promise<Outcome> {
  const child = spawn(join(bin, 'python'), ['-c', SYNC, ...args], {
    cwd: folder,
    env: { ...env(url, key), ...variables },
  })
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

beforeAll(async () => {
  its = await answeredDays(db, { first: daysBefore(START, 1), days: 50 })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('keeps the promises of a copy', CONCURRENT, async ({ expect }) => {
  const python = join(bin, 'python')
  const verdicts = await certify({
    command: `DLT_DATA_DIR=. RUNTIME__DLTHUB_TELEMETRY=false SOURCES__EXPORT_API__BASE_URL=$EXPORT_API_URL \\
      SOURCES__EXPORT_API__API_KEY=$EXPORT_API_KEY SOURCES__EXPORT_API__START_DATE=$EXPORT_API_START_DATE \\
      ${python} ${PIPELINE}`,
    copy: 'duckdb:export_api_pipeline.duckdb',
    schema: 'export_api',
  })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts.length).toBeGreaterThan(10)
  expect(verdicts[1]?.requests).toBe(2)
})

// Hostile texts: connectors/dbt/test/dbt.test.ts, whose proof compares each row that dlt has loaded.
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
  expect(last.code).toBe(0)
  // The run consists of several loads, and each replaces the brands.
  expect(last.stdout).toMatch(/^\d+ requests\nbrands: 1 rows$/m)
  const requests = [...asked].flatMap(([target, agents]) =>
    target.includes('toDate=2026-10-31') ? [agents] : [],
  )
  expect(requests).toEqual(metrics.map(() => [AGENT]))
  const damage = `update export_api.sentiment set positive_weight = 0.1 where date = '${START}';
    delete from export_api.visibility where date = '2026-11-10'`
  await run(join(bin, 'duckdb'), ['-bail', join(folder, 'export_api_pipeline.duckdb'), damage])
  const { code, stdout } = await sync({ url: inject('serviceUrl'), args: ['--verify'] })
  expect(code).toBe(1)
  expect(stdout.match(/^.*listed: .*$/gm)).toEqual([
    expect.stringMatching(
      /^sentiment of 2026-10-01 of brand .*: 1 rows, .*positive_weight 0.1000, .*; listed: .*positive_weight 0.1001, /,
    ),
    expect.stringMatching(/^visibility of 2026-11-10 of brand .*: 0 rows, .*; listed: 1 rows, /),
  ])
})

test('reads REQUESTS_CA_BUNDLE, and ends at once with a sentence for what no retry helps', async () => {
  const { url, certificate } = await startTlsServer((_, response) => response.writeHead(401).end('{}'))
  const outcome = async (options: Parameters<typeof sync>[0]) => (await sync(options)).stderr
  expect(await outcome({ url })).toMatch(
    /^HTTPSConnectionPool.*CERTIFICATE_VERIFY_FAILED.* set REQUESTS_CA_BUNDLE .*\n$/,
  )
  const variables = { REQUESTS_CA_BUNDLE: certificate }
  expect(await outcome({ url, variables })).toBe('The service responded 401: Unauthorized\n')
  expect(await outcome({ url, key: 'a key' })).toBe(
    'Set api_key to your API key, without other characters.\n',
  )
})

test('its own tests pass, which need no service', CONCURRENT, async ({ expect }) => {
  const args = ['-q', '-p', 'no:cacheprovider']
  const { stdout } = await run(join(bin, 'pytest'), args, {
    cwd: CONNECTOR,
    env: { ...env('', ''), PYTHONPATH: PYTHON_TESTS },
  })
  expect(stdout).toMatch(/\d+ passed/)
})

test('dlt init copies it into a project', CONCURRENT, async ({ expect }) => {
  const project = await mkdtemp(join(folder, 'project-'))
  const args = ['--non-interactive', 'init', 'export_api', 'postgres', '--location', CONNECTOR]
  await run(join(bin, 'dlt'), args, { cwd: project, env: { ...env('', ''), HOME: project } })
  expect(await readdir(join(project, 'export_api'))).toEqual(
    expect.arrayContaining(['README.md', '__init__.py', 'streams.json']),
  )
  expect(await readFile(join(project, 'export_api_pipeline.py'), 'utf8')).toContain(`destination='postgres'`)
  expect(await readFile(join(project, 'requirements.txt'), 'utf8')).toMatch(/^dlt\[postgres\]/)
})
