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
    ['citation-share', 30],
  ] as const)
    await fillDaily(db, { name, brandId: its.brandId, rows: ROWS, first: '2020-01-05', days })
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Whether DuckDB and its HTTP extension are installed. */
const hasDuckdb = async (): Promise<boolean> =>
  run('duckdb', ['-c', 'LOAD httpfs']).then(
    () => true,
    () => false,
  )

type Runner = {
  readonly file: string
  readonly command: readonly string[]
  readonly isInstalled: boolean
  /** Code appended to a sample that prints its rows as JSON. */
  readonly printRows: (id: string) => string
  /** Edits a sample as its comments tell the reader to. */
  readonly edit?: (sample: string) => string
}

const NEXT_PAGE = /-- Next page\.[\s\S]*?(?=CREATE OR REPLACE VIEW)/

const RUNNERS: Readonly<Record<Language, Runner>> = {
  curl: {
    file: 'pull.sh',
    command: ['sh'],
    isInstalled: hasAll('curl', 'jq'),
    printRows: (id) => `jq -sc 'map(.data) | add' ${isPagedId(id) ? '"$folder"/*.json' : `${id}.json`}`,
  },
  python: {
    file: 'pull.py',
    command: ['python3'],
    isInstalled: hasAll('python3'),
    printRows: () => 'print(json.dumps(rows))',
  },
  typescript: {
    file: 'pull.mts',
    command: [process.execPath],
    isInstalled: true,
    printRows: () => 'console.log(JSON.stringify(rows))',
  },
  sql: {
    file: 'pull.sql',
    command: ['sh', '-c', 'duckdb -bail -json < "$0"'],
    isInstalled: await hasDuckdb(),
    printRows: (id) => `SELECT * FROM ${id.replaceAll('-', '_')};`,
    // Once more than there are pages, which changes nothing.
    edit: (sample) => sample.replace('INSTALL httpfs;\n', '').replace(NEXT_PAGE, (block) => block.repeat(3)),
  },
}

const isPagedId = (id: string): boolean => reference.endpoints.some((each) => each.id === id && isPaged(each))

/** Runs the sample of an endpoint in a new folder. Returns the rows that it pulled. */
async function runSample(language: Language, id: string, origin: string): Promise<Row[]> {
  const { file, command, printRows, edit = (sample) => sample } = RUNNERS[language]
  const endpoint = reference.endpoints.find((each) => each.id === id)
  if (endpoint === undefined) throw new Error(`Unknown endpoint ${id}`)
  const directory = await mkdtemp(join(folder, `${id}-${language}-`))
  const sample = SAMPLES[language].write({ origin, endpoint, query: isPaged(endpoint) ? window : {} })
  await writeFile(join(directory, file), `${edit(sample)}\n${printRows(id)}\n`)
  const [program = '', ...args] = command
  const { stdout } = await run(program, [...args, file], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, EXPORT_API_KEY: its.key },
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1))
}

/** Returns rows as sorted text, because samples print them in different orders. */
const sorted = (rows: readonly Row[]): string[] =>
  rows
    .map((row) => JSON.stringify(Object.entries(row).map(([name, value]) => [name, normalize(value)])))
    .sort()

/** Removes DuckDB's formatting of times. */
const normalize = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00)$/, '$1 $2')
    : value

const languages = Object.keys(RUNNERS).filter((name): name is Language => Object.hasOwn(RUNNERS, name))

describe.each(languages)('%s samples', (language) => {
  test.skipIf(!RUNNERS[language].isInstalled)('pull every row once', async () => {
    // The listing, and metrics with one row and with many rows a day. The other samples differ in names only.
    for (const id of ['brands', 'sentiment', 'citation-share']) {
      const expected = isPagedId(id)
        ? await pull(`/${id}`, { key: its.key, query: window })
        : await listBrands()
      expect(expected).toHaveLength(isPagedId(id) ? ROWS : 1)
      expect(sorted(await runSample(language, id, inject('serviceUrl'))), id).toEqual(sorted(expected))
    }
  })

  // DuckDB retries every status.
  test.skipIf(!RUNNERS[language].isInstalled || language === 'sql')('stop at 401', async () => {
    const { key } = its
    its = { ...its, key: `${key.slice(0, -4)}0000` }
    await expect(runSample(language, 'sentiment', inject('serviceUrl'))).rejects.toThrow(/401/)
    its = { ...its, key }
  })
})

// Runs all languages at once, because each of them waits.
test('samples retry 429 and 503 after Retry-After seconds', async () => {
  const expected = await pull('/citation-share', { key: its.key, query: window })
  const installed = languages.filter((language) => RUNNERS[language].isInstalled)
  const outcomes = await Promise.all(
    installed.map(async (language) => {
      const proxy = await startFaltering(inject('serviceUrl'))
      const rows = await runSample(language, 'citation-share', proxy.url).finally(proxy.close)
      return [language, [...proxy.asked.values()], sorted(rows)]
    }),
  )
  expect(outcomes).toEqual(installed.map((language) => [language, [2, 2, 2], sorted(expected)]))
})

async function listBrands(): Promise<Row[]> {
  return [...(await call('/brands', { key: its.key })).data]
}

test('TypeScript samples pass a strict type check', async () => {
  const directory = await mkdtemp(join(folder, 'types-'))
  for (const endpoint of reference.endpoints) {
    const sample = SAMPLES.typescript.write({ origin: 'https://service.example', endpoint, query: {} })
    await writeFile(join(directory, `${endpoint.id}.mts`), sample)
  }
  const files = (await readdir(directory)).map((file) => join(directory, file))
  const options = '--ignoreConfig --noEmit --strict --target es2024 --module nodenext --types node'.split(' ')
  const checked = await run(join(ROOT, 'node_modules/.bin/tsc'), [
    ...options,
    '--typeRoots',
    join(ROOT, 'node_modules/@types'),
    ...files,
  ]).catch((error: { stdout: string }) => error)
  expect(checked.stdout).toBe('')
})

test('samples escape the values that a reader enters', async () => {
  const endpoint = reference.endpoints.find(isPaged)
  if (endpoint === undefined) throw new Error('No endpoint is paged')
  const hostile = `'"; exit $(id) \` \\ \${x} {} \n--`
  const query = { brandId: hostile }
  const origin = 'https://service.example'
  const encoded = new URLSearchParams({ brandId: hostile }).toString()
  const directory = await mkdtemp(join(folder, 'hostile-'))

  const shell = SAMPLES.curl.write({ origin, endpoint, query })
  await writeFile(join(directory, 'a.sh'), `${/^url=.*$/m.exec(shell)?.[0]}\nprintf %s "$url"`)
  expect((await run('sh', [join(directory, 'a.sh')])).stdout).toBe(`${origin}${endpoint.path}?${encoded}`)

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
