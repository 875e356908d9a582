import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { isPaged } from '../../../site/reference.ts'
import { type Language, SAMPLES } from '../../../site/samples.ts'
import { call, pull, type Row } from '../../support/call.ts'
import { fillDaily } from '../../support/daily.ts'
import { startFaltering } from '../../support/faltering.ts'
import { hasAll } from '../../support/programs.ts'
import { reference } from '../../support/reference.ts'
import { type Tenant, tenant } from '../../support/tenant.ts'
import { database } from '../../support/world.ts'

const db = database()
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const ROWS = 2001

let its: Tenant
let folder: string
let window: Record<string, string>

// Three pages of two metrics: one has one row a day, the other many.
beforeAll(async () => {
  its = await tenant(db)
  folder = await mkdtemp(join(tmpdir(), 'samples-'))
  window = { brandId: its.brandId, fromDate: '2020-01-01', toDate: '2026-11-01' }
  for (const [name, days] of [
    ['sentiment', ROWS],
    ['citations', 30],
  ] as const)
    await fillDaily(db, { name, brandId: its.brandId, rows: ROWS, first: '2020-01-05', days })
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Whether DuckDB is here, and has its HTTP extension: it fetches that from a server of its own. */
const hasDuckdb = async (): Promise<boolean> =>
  run('duckdb', ['-c', 'LOAD httpfs']).then(
    () => true,
    () => false,
  )

type Way = {
  readonly file: string
  readonly command: readonly string[]
  readonly here: boolean
  /** Code appended to a sample that prints its rows as JSON. */
  readonly tell: (id: string) => string
  /** A sample as a reader uses it. */
  readonly used?: (sample: string) => string
}

const REPEATED = /-- The next page\.[\s\S]*?(?=CREATE OR REPLACE VIEW)/

const WAYS: Readonly<Record<Language, Way>> = {
  curl: {
    file: 'pull.sh',
    command: ['sh'],
    here: hasAll('curl', 'jq'),
    tell: (id) => `jq -sc 'map(.data) | add' ${isPagedId(id) ? '"$folder"/*.json' : `${id}.json`}`,
  },
  python: {
    file: 'pull.py',
    command: ['python3'],
    here: hasAll('python3'),
    tell: () => 'print(json.dumps(rows))',
  },
  typescript: {
    file: 'pull.mts',
    command: [process.execPath],
    here: true,
    tell: () => 'console.log(JSON.stringify(rows))',
  },
  sql: {
    file: 'pull.sql',
    command: ['sh', '-c', 'duckdb -bail -json < "$0"'],
    here: await hasDuckdb(),
    tell: (id) => `SELECT * FROM ${id.replaceAll('-', '_')};`,
    // Once more than there are pages: that does no harm.
    used: (sample) => sample.replace('INSTALL httpfs;\n', '').replace(REPEATED, (block) => block.repeat(3)),
  },
}

const isPagedId = (id: string): boolean => reference.endpoints.some((each) => each.id === id && isPaged(each))

/** Runs an endpoint's sample in a folder of its own, and gives the rows that it pulled. */
async function pullBy(language: Language, id: string, origin: string): Promise<Row[]> {
  const { file, command, tell, used = (sample) => sample } = WAYS[language]
  const endpoint = reference.endpoints.find((each) => each.id === id)
  if (endpoint === undefined) throw new Error(`There is no ${id}`)
  const place = await mkdtemp(join(folder, `${id}-${language}-`))
  const sample = SAMPLES[language].write({ origin, endpoint, query: isPaged(endpoint) ? window : {} })
  await writeFile(join(place, file), `${used(sample)}\n${tell(id)}\n`)
  const [program = '', ...args] = command
  const { stdout } = await run(program, [...args, file], {
    cwd: place,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, EXPORT_API_KEY: its.key },
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1))
}

/** Rows as one comparable text each, in an order of its own: a sample may print them in another one. */
const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).map(([name, value]) => [name, plain(value)]))).sort()

/** DuckDB has types of its own for times, and writes them its own way. */
const plain = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00)$/, '$1 $2')
    : value

const languages = Object.keys(WAYS).filter((name): name is Language => Object.hasOwn(WAYS, name))

describe.each(languages)('the %s sample', (language) => {
  test.skipIf(!WAYS[language].here)('pulls its window whole, each row once', async () => {
    // A listing, and metrics with one and with many rows a day; the others differ in nothing.
    for (const id of ['brands', 'sentiment', 'citations']) {
      const due = isPagedId(id) ? await pull(`/${id}`, { key: its.key, query: window }) : await listed()
      expect(due).toHaveLength(isPagedId(id) ? ROWS : 1)
      expect(sorted(await pullBy(language, id, inject('serviceUrl'))), id).toEqual(sorted(due))
    }
  })

  // DuckDB cannot: it repeats a request whatever its status is.
  test.skipIf(!WAYS[language].here || language === 'sql')('stops at 401', async () => {
    const { key } = its
    its = { ...its, key: `${key.slice(0, -4)}0000` }
    await expect(pullBy(language, 'sentiment', inject('serviceUrl'))).rejects.toThrow(/401/)
    its = { ...its, key }
  })
})

// Side by side, since each waits.
test('a sample waits for Retry-After and sends the request again', async () => {
  const due = await pull('/citations', { key: its.key, query: window })
  const here = languages.filter((language) => WAYS[language].here)
  const outcomes = await Promise.all(
    here.map(async (language) => {
      const door = await startFaltering(inject('serviceUrl'))
      const rows = await pullBy(language, 'citations', door.url).finally(door.close)
      return [language, [...door.asked.values()], sorted(rows)]
    }),
  )
  expect(outcomes).toEqual(here.map((language) => [language, [2, 2, 2], sorted(due)]))
})

async function listed(): Promise<Row[]> {
  return [...(await call('/brands', { key: its.key })).data]
}

test('the TypeScript of every endpoint passes a strict check', async () => {
  const place = await mkdtemp(join(folder, 'types-'))
  for (const endpoint of reference.endpoints) {
    const sample = SAMPLES.typescript.write({ origin: 'https://service.example', endpoint, query: {} })
    await writeFile(join(place, `${endpoint.id}.mts`), sample)
  }
  const files = (await readdir(place)).map((file) => join(place, file))
  const options = '--ignoreConfig --noEmit --strict --target es2024 --module nodenext --types node'.split(' ')
  const checked = await run(join(ROOT, 'node_modules/.bin/tsc'), [
    ...options,
    '--typeRoots',
    join(ROOT, 'node_modules/@types'),
    ...files,
  ]).catch((error: { stdout: string }) => error)
  expect(checked.stdout).toBe('')
})

test('a value that a reader typed stays a value in every language', async () => {
  const endpoint = reference.endpoints.find(isPaged)
  if (endpoint === undefined) throw new Error('No endpoint has pages')
  const hostile = `'"; exit $(id) \` \\ \${x} {} \n--`
  const query = { brandId: hostile }
  const origin = 'https://service.example'
  const encoded = new URLSearchParams({ brandId: hostile }).toString()
  const place = await mkdtemp(join(folder, 'hostile-'))

  const shell = SAMPLES.curl.write({ origin, endpoint, query })
  await writeFile(join(place, 'a.sh'), `${/^url=.*$/m.exec(shell)?.[0]}\nprintf %s "$url"`)
  expect((await run('sh', [join(place, 'a.sh')])).stdout).toBe(`${origin}${endpoint.path}?${encoded}`)

  const typescript = /const parameters = \{[\s\S]*?\n\}/.exec(
    SAMPLES.typescript.write({ origin, endpoint, query }),
  )?.[0]
  expect(new Function(`${typescript}; return parameters`)()).toEqual({ brandId: hostile })
  expect(SAMPLES.python.write({ origin, endpoint, query })).toContain(
    `"brandId": ${JSON.stringify(hostile)},`,
  )
  expect(SAMPLES.sql.write({ origin, endpoint, query })).toContain(
    `url = '${origin}${endpoint.path}?${encoded}'`,
  )
})
