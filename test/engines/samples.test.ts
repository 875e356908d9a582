import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { type Language, SAMPLES } from '../../site/samples.ts'
import { type Fault, startFlakyProxy } from '../faults/flaky-proxy.ts'
import { startRedirectingServer } from '../faults/redirecting-server.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { duckdbSetup } from '../fixtures/duckdb.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../fixtures/hostile-texts.ts'
import { hasAll } from '../fixtures/programs.ts'
import { database } from '../fixtures/rows.ts'
import { reference } from '../fixtures/site/reference.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const folder = await mkdtemp(join(tmpdir(), 'samples-'))
let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await db.query(
    'update brands set (name, display_name, url, site_url, industry) = ($2, $3, $4, $5, $6) where id = $1',
    [its.brandId, ...Object.values(HOSTILE_BRAND)],
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Runner = {
  readonly file: string
  readonly command: readonly string[]
  readonly isInstalled: boolean
  readonly parse: (stdout: string) => Row[]
}

const lines = (stdout: string): Row[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const RUNNERS: Readonly<Record<Language, Runner>> = {
  curl: { file: 'pull.sh', command: ['sh'], isInstalled: hasAll('curl'), parse: lines },
  python: { file: 'pull.py', command: ['python3'], isInstalled: hasAll('python3'), parse: lines },
  javascript: { file: 'pull.mjs', command: [process.execPath], isInstalled: true, parse: lines },
  sql: {
    file: 'pull.sql',
    command: ['duckdb', '-cmd', duckdbSetup(folder), '-f'],
    isInstalled: hasAll('duckdb'),
    // The first line is the result of CREATE SECRET.
    parse: (stdout) => lines(stdout).slice(1),
  },
}

const languages = Object.keys(RUNNERS)
  .filter((name): name is Language => Object.hasOwn(RUNNERS, name))
  .filter((language) => RUNNERS[language].isInstalled)

type Run = {
  /** The endpoint. */
  readonly id: string
  readonly query?: Record<string, string>
  /** Empty for none. */
  readonly key?: string
  /** Faults of the proxy in front of the service, for each page. */
  readonly faults?: readonly Fault[][]
}

/** Runs a sample. Returns the rows that it printed. Throws an error with what the sample printed when it fails. */
async function runSample(
  language: Language,
  { id, query = {}, key = its.key, faults = [] }: Run,
): Promise<Row[]> {
  const proxy = await startFlakyProxy(inject('serviceUrl'), faults)
  const stdout = await runAt(language, { origin: proxy.url, id, query, key }).finally(proxy.close)
  const requests = proxy.asked.size + faults.flat().filter((fault) => fault === 429).length
  expect([...proxy.asked.values()].flat()).toEqual(Array(requests).fill('my-warehouse/1.0'))
  return RUNNERS[language].parse(stdout)
}

function endpointOf(id: string) {
  const endpoint = reference.endpoints.find((each) => each.id === id)
  if (endpoint === undefined) throw new Error(`Unknown endpoint ${id}`)
  return endpoint
}

/** Runs a sample for the service at `origin`. Returns what it printed. Throws an error with that when it fails. */
async function runAt(
  language: Language,
  { origin, id, query = {}, key }: Omit<Run, 'faults'> & { readonly origin: string },
): Promise<string> {
  const { file, command } = RUNNERS[language]
  const cwd = join(folder, language)
  await mkdir(cwd, { recursive: true })
  await writeFile(join(cwd, file), SAMPLES[language].write({ origin, endpoint: endpointOf(id), query }))
  const [program = '', ...args] = command
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, ...(key && { EXPORT_API_KEY: key }) }
  const { stdout } = await run(program, [...args, file], { cwd, env }).catch(({ stdout, stderr }) => {
    throw new Error(stdout + stderr)
  })
  return stdout
}

test.each(languages)('%s prints all rows of a window, and the brands', async (language) => {
  const { brandId, key } = await tenant(db)
  const query = { brandId, fromDate: '2026-10-01', toDate: '2026-10-31' }
  await fillDaily(db, { name: 'sentiment', brandId, rows: 30, first: '2026-10-01', days: 30 })
  await fillDaily(db, { name: 'citations', brandId, rows: 2001, first: '2026-10-01', days: 30 })
  await addHostileTexts(db, brandId, '2026-10-31')
  for (const id of ['sentiment', 'citations', 'visibility', 'recommended-rate'])
    expect(await runSample(language, { id, query, key })).toEqual(await pull(`/${id}`, { key, query }))
  const { data } = await call('/brands', { key: its.key })
  expect(await runSample(language, { id: 'brands' })).toEqual(data)
})

test.each(languages)('%s stops at an error with the message of the service', async (language) => {
  const query = { brandId: its.brandId }
  const wrong = runSample(language, { id: 'visibility', query, key: `${its.key.slice(0, -4)}0000` })
  await expect(wrong).rejects.toThrow('API key missing or invalid')
})

test.each(languages)('%s says in a sentence that the key is missing', async (language) => {
  const message = await runSample(language, { id: 'brands', key: '' }).then(String, String)
  expect(message).toMatch(/(Set EXPORT_API_KEY|EXPORT_API_KEY: Set it) to your API key\./)
  expect(message).not.toMatch(/Traceback|^\s+at /m)
})

// The shell leaves out the final newline of a key that it reads from a file, and curl shows no header.
test.each(
  languages,
)('%s sends the key in Authorization too, and shows none of other characters', async (language) => {
  const received: unknown[] = []
  const server = await startLocalServer(({ headers }, response) => {
    received.push([headers['x-api-key'], headers.authorization])
    response.writeHead(401).end('Rejected.')
  })
  onTestFinished(server.close)
  const failed = (key: string) => runAt(language, { origin: server.url, id: 'brands', key }).catch(String)
  expect(await failed(language === 'curl' ? 'key' : ' key\r\n')).toMatch(/Rejected|401/)
  expect(new Set(received.map(String))).toEqual(new Set(['key,Bearer key']))
  for (const key of ['hidden\nkey', 'hiddenclé', 'hidden\u0001key'])
    expect(await failed(key)).not.toContain('hidden')
})

// curl and DuckDB request all rows at once.
test.each(
  languages.filter((language) => language === 'python' || language === 'javascript'),
)('%s waits for the rate limit', async (language) => {
  const { data } = await call('/brands', { key: its.key })
  expect(await runSample(language, { id: 'brands', faults: [[429]] })).toEqual(data)
})

test.each(languages)('%s fails when the rows are cut off', async (language) => {
  const { brandId, key } = await tenant(db)
  const query = { brandId, fromDate: '2026-10-01', toDate: '2026-10-31' }
  await fillDaily(db, { name: 'citations', brandId, rows: 1001, first: '2026-10-01', days: 31 })
  const isFile = language === 'curl' || language === 'sql'
  const faults: Fault[][] = isFile ? [['cut']] : [[], [503]]
  await expect(runSample(language, { id: 'citations', query, key, faults })).rejects.toThrow()
})

// DuckDB follows each redirect.
test.each(languages.filter((language) => language !== 'sql'))('%s follows no redirect', async (language) => {
  const { url, followed, close } = await startRedirectingServer()
  onTestFinished(async () => void (await close()))
  const outcome = await runAt(language, { origin: url, id: 'brands', key: its.key }).catch(String)
  expect(followed).toEqual([])
  // curl takes a redirect for a success.
  if (language !== 'curl') expect(outcome).toContain('302: ')
})

test.runIf(languages.includes('sql'))('SQL sends the key to no port that begins like its own', async () => {
  const { command, parse } = RUNNERS.sql
  const [program = '', ...args] = command
  const origin = 'http://127.0.0.1:4151'
  const sample = SAMPLES.sql.write({ origin, endpoint: endpointOf('brands'), query: {} })
  const [secret] = sample.split('FROM read_json')
  const [own, other] = [origin, `${origin}1`].map((url) => `SELECT name FROM which_secret('${url}/', 'http')`)
  const file = join(folder, 'scope.sql')
  await writeFile(file, `${secret} ${own} UNION ALL ${other};`)
  const { stdout } = await run(program, [...args, file], { env: { ...process.env, EXPORT_API_KEY: its.key } })
  expect(parse(stdout)).toEqual([{ name: 'export_api' }])
})

test('JavaScript samples are strict TypeScript, too', async () => {
  const directory = await mkdtemp(join(folder, 'types-'))
  for (const endpoint of reference.endpoints) {
    const sample = SAMPLES.javascript.write({ origin: 'https://service.example', endpoint, query: {} })
    await writeFile(join(directory, `${endpoint.id}.mts`), sample)
  }
  const files = (await readdir(directory)).map((file) => join(directory, file))
  const options =
    '--ignoreConfig --noEmit --strict --target es2024 --module nodenext --types node --typeRoots'
  const args = [...options.split(' '), join(ROOT, 'node_modules/@types'), ...files]
  await run(join(ROOT, 'node_modules/.bin/tsc'), args).catch(({ stdout, message }) => {
    throw new Error(stdout || message)
  })
})

test('samples escape the values that a reader enters', () => {
  const endpoint = endpointOf('visibility')
  const hostile = `'"; exit $(id) \` \\ \${x} {} \n--`
  const request = { origin: 'https://service.example', endpoint, query: { brandId: hostile } }
  for (const language of ['curl', 'javascript', 'sql'] as const) {
    const address = /'(https:.*brandId.*)'/.exec(SAMPLES[language].write(request))?.[1] ?? ''
    expect(address).not.toMatch(/['"`$\\\s]/)
    expect(new URL(address).searchParams.get('brandId')).toBe(hostile)
  }
  expect(SAMPLES.python.write(request)).toContain(`{"brandId": ${JSON.stringify(hostile)}}`)
})
