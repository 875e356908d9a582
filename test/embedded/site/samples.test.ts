import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { isPaged } from '../../../reference/reference.ts'
import { type Language, SAMPLES } from '../../../site/samples.ts'
import { type Fault, type FlakyProxy, startFlakyProxy } from '../../faults/flaky-proxy.ts'
import { call, pull, type Row } from '../../fixtures/call.ts'
import { duckdbSetup } from '../../fixtures/duckdb.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { hasAll } from '../../fixtures/programs.ts'
import { brand, database } from '../../fixtures/rows.ts'
import { reference } from '../../fixtures/site/reference.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const db = database()
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const folder = await mkdtemp(join(tmpdir(), 'samples-'))
let its: Tenant
let proxy: FlakyProxy

beforeAll(async () => {
  await installClient()
  its = await tenant(db)
  proxy = await startFlakyProxy(inject('serviceUrl'))
})

afterAll(async () => {
  await proxy.close()
  await rm(folder, { recursive: true, force: true })
})

type Runner = {
  readonly file: string
  readonly command: readonly string[]
  readonly isInstalled: boolean
  /** Reads a table from the store that the sample wrote in a folder. */
  readonly stored: (folder: string, table: string) => Promise<Row[]>
}

const fromSqlite = async (folder: string, table: string): Promise<Row[]> => {
  const store = new DatabaseSync(join(folder, 'export.db'))
  const rows: Row[] = JSON.parse(JSON.stringify(store.prepare(`SELECT * FROM ${table}`).all()))
  store.close()
  return rows
}

const RUNNERS: Readonly<Record<Language, Runner>> = {
  curl: {
    file: 'pull.sh',
    command: ['sh'],
    isInstalled: hasAll('curl', 'jq'),
    stored: async (cwd, table) => {
      const { stdout } = await run('sh', ['-c', 'cat "$0".ndjson || cat "$0"/*.ndjson', table], { cwd })
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
  },
  python: { file: 'pull.py', command: ['python3'], isInstalled: hasAll('python3'), stored: fromSqlite },
  typescript: { file: 'pull.mts', command: [process.execPath], isInstalled: true, stored: fromSqlite },
  sql: {
    file: 'pull.sql',
    command: ['duckdb', '-cmd', duckdbSetup(folder), 'export.duckdb', '-f'],
    isInstalled: hasAll('duckdb'),
    stored: async (folder, table) => {
      const { stdout } = await run('duckdb', ['-json', join(folder, 'export.duckdb'), '-c', `FROM ${table}`])
      return JSON.parse(stdout)
    },
  },
}

const languages = Object.keys(RUNNERS)
  .filter((name): name is Language => Object.hasOwn(RUNNERS, name))
  .filter((language) => RUNNERS[language].isInstalled)

type Run = {
  readonly language: Language
  readonly directory: string
  readonly origin: string
  /** The endpoint. */
  readonly id: string
  readonly query?: Record<string, string>
  readonly key?: string
}

/** Builds the TypeScript client where the samples find it. */
async function installClient(): Promise<void> {
  const client = join(ROOT, 'connectors/typescript')
  const installed = join(folder, 'node_modules/export-api-client')
  await mkdir(installed, { recursive: true })
  await copyFile(join(client, 'package.json'), join(installed, 'package.json'))
  const tsc = join(client, 'node_modules/.bin/tsc')
  await run(tsc, ['--project', client, '--outDir', join(installed, 'dist')])
}

/** Runs a sample in a folder. Throws an error with what the sample printed when it fails. */
async function runSample({ language, directory, origin, id, query = {}, key = its.key }: Run): Promise<void> {
  const { file, command } = RUNNERS[language]
  const endpoint = reference.endpoints.find((each) => each.id === id)
  if (endpoint === undefined) throw new Error(`Unknown endpoint ${id}`)
  await writeFile(join(directory, file), SAMPLES[language].write({ origin, endpoint, query }))
  const [program = '', ...args] = command
  const { PATH, HOME } = process.env
  await run(program, [...args, file], { cwd: directory, env: { PATH, HOME, EXPORT_API_KEY: key } })
}

/** Runs something for all languages at once, because each of them waits. Returns the results by language. */
async function inEach<Result>(
  use: (run: Pick<Run, 'language' | 'directory'>) => Promise<Result>,
): Promise<Record<string, Result>> {
  const results = await Promise.all(
    languages.map(async (language) => {
      const directory = join(folder, language)
      await mkdir(directory, { recursive: true })
      return [language, await use({ language, directory })] as const
    }),
  )
  return Object.fromEntries(results)
}

/** What `inEach` returns when every language has the same result. */
const eachHas = <Result>(result: Result): Record<string, Result> =>
  Object.fromEntries(languages.map((language) => [language, result]))

/** Returns rows as sorted text, because stores return them in different orders. */
const sorted = (rows: readonly Row[]): string[] =>
  rows
    .map((row) => JSON.stringify(Object.entries(row).map(([name, value]) => [name, normalize(value)])))
    .sort()

/** Removes DuckDB's formatting of times, and what SQLite makes of booleans and objects. */
function normalize(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string') return value
  if (value.startsWith('{')) return JSON.parse(value)
  return value.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,3})?(Z|\+00)$/, '$1 $2')
}

const storedRows = ({ language, directory }: Pick<Run, 'language' | 'directory'>, id: string) =>
  RUNNERS[language].stored(directory, id.replaceAll('-', '_')).then(sorted)

/** Returns the rows of a window with the column that the samples add. */
const served = async (id: string, query: Record<string, string>, key = its.key): Promise<Row[]> =>
  (await pull(`/${id}`, { key, query })).map((row) => ({ brand_id: query.brandId ?? '', ...row }))

test('samples replace the days of their window, and no other day or brand', async () => {
  const id = 'citation-share'
  const other = await brand(db, its.org, { name: 'Other' })
  const { brandId } = its
  await fillDaily(db, { name: id, brandId, rows: 1201, first: '2026-10-01', days: 30 })
  await fillDaily(db, { name: id, brandId, rows: 3, first: '2020-01-05', days: 3, from: 2000 })
  await fillDaily(db, { name: id, brandId: other, rows: 9, first: '2026-10-01', days: 5 })
  const all = { brandId, fromDate: '2020-01-01', toDate: '2026-10-31' }
  const ofOther = { brandId: other, fromDate: '2026-10-01' }
  const days = { brandId, fromDate: '2026-10-10', toDate: '2026-10-20' }
  const [before, unchanged] = await Promise.all([served(id, all), served(id, ofOther)])
  await inEach(async (each) => {
    await runSample({ ...each, id, origin: proxy.url, query: all })
    await runSample({ ...each, id, origin: proxy.url, query: ofOther })
  })
  expect(await inEach((each) => storedRows(each, id))).toEqual(eachHas(sorted([...before, ...unchanged])))

  const ofBrand = 'daily.citation_share where brand_id = $1 and date'
  await db.query(`delete from ${ofBrand} = '2026-10-12'`, [brandId])
  await db.query(`delete from ${ofBrand} in ('2026-10-02', '2026-10-13') and citations < 500`, [brandId])
  await db.query('update daily.citation_share set domain = null where brand_id = $1', [brandId])
  const after = await served(id, days)
  await inEach((each) => runSample({ ...each, id, origin: proxy.url, query: days }))
  // The plan does not reach back to this window: it is empty, and its days stay.
  await db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [its.org.id])
  const old = { brandId, fromDate: '2020-01-01', toDate: '2020-12-31' }
  await inEach((each) => runSample({ ...each, id, origin: proxy.url, query: old }))

  const kept = before.filter(({ date }) => String(date) < days.fromDate || String(date) > days.toDate)
  expect(after.length).toBeLessThan(before.length - kept.length)
  const expected = sorted([...kept, ...after, ...unchanged])
  expect(await inEach((each) => storedRows(each, id))).toEqual(eachHas(expected))
})

test('samples replace the brands', async () => {
  const listed = await brand(db, its.org, { name: 'Listed' })
  await inEach((each) => runSample({ ...each, id: 'brands', origin: proxy.url }))
  await db.query('update brands set active = false where id = $1', [listed])
  await inEach((each) => runSample({ ...each, id: 'brands', origin: proxy.url }))
  const { data } = await call('/brands', { key: its.key })
  expect(await inEach((each) => storedRows(each, 'brands'))).toEqual(eachHas(sorted(data)))
})

test('samples keep the latest change of each day, and the other days and brands', async () => {
  const id = 'changes'
  const outcomes = await inEach(async (each) => {
    const { org, brandId, key } = await tenant(db)
    const other = await brand(db, org, { name: 'Other' })
    const days = { name: id, first: '2020-01-01', days: 1200 }
    await fillDaily(db, { ...days, brandId, rows: 1200 })
    await fillDaily(db, { ...days, brandId: other, rows: 9 })
    const change = (year: number, date: string) =>
      db.query(
        `update daily.changes set rows = 0, totals = '{"total_prompts": 0}', changed_at = $2 || substr(changed_at, 5)
         where brand_id = $1 and date ${date}`,
        [brandId, String(year)],
      )

    // A day of the first page changes before the second page, which lists it again.
    const faults = [[], [() => change(2120, `= '2020-01-01'`)]]
    const changing = await startFlakyProxy(
      inject('serviceUrl'),
      each.language === 'sql' ? [[], ...faults] : faults,
    )
    await runSample({ ...each, id, origin: changing.url, query: { brandId }, key })
    await runSample({ ...each, id, origin: proxy.url, query: { brandId: other }, key })

    const first = await RUNNERS[each.language].stored(each.directory, id)
    const since = first.flatMap((row) => (row.brand_id === brandId ? [String(row.changed_at)] : [])).sort()
    await change(2220, `>= '2020-07-01'`)
    const query = { brandId, since: since.at(-1) ?? '' }
    await runSample({ ...each, id, origin: changing.url, query, key })
    await changing.close()
    const withSince = [...changing.asked.keys()].flatMap((target) =>
      target.includes(`/${id}?`) ? [target.includes('since=')] : [],
    )
    const listed = [...(await served(id, { brandId }, key)), ...(await served(id, { brandId: other }, key))]
    return { stored: await storedRows(each, id), listed: sorted(listed), withSince }
  })
  for (const [language, { stored, listed, withSince }] of Object.entries(outcomes)) {
    expect(stored, language).toEqual(listed)
    expect(withSince, language).toEqual([false, false, true, true])
  }
})

test('samples retry dropped connections, 429 and 503 on every page, under a name of their own', async () => {
  const { key, brandId } = await tenant(db)
  const id = 'sentiment'
  const query = { brandId, fromDate: '2020-01-01', toDate: '2026-10-31' }
  await fillDaily(db, { name: id, brandId, rows: 2001, first: '2020-01-05', days: 2001 })
  const faults: Fault[][] = [
    ['dropped', 429],
    [503, 'cut'],
    ['cut', 503],
  ]
  const asked = await inEach(async (each) => {
    // DuckDB's sample waits for the service, then requests the first page once.
    const [first = [], ...more] = faults
    const met = each.language === 'sql' ? [first, [], ...more] : faults
    const flaky = await startFlakyProxy(inject('serviceUrl'), met)
    await runSample({ ...each, id, origin: flaky.url, query, key }).finally(flaky.close)
    return [...flaky.asked.values()]
  })
  const times = (...counts: number[]) => counts.map((count) => Array(count).fill('my-warehouse/1.0'))
  const sql = languages.includes('sql') && { sql: times(3, 1, 3, 3) }
  expect(asked).toEqual({ ...eachHas(times(3, 3, 3)), ...sql })
  const rows = (await pull(`/${id}`, { key, query })).map((row) => ({ brand_id: brandId, ...row }))
  expect(await inEach((each) => storedRows(each, id))).toEqual(eachHas(sorted(rows)))
})

test('samples stop at 401 after one request, with the message of the service', async () => {
  const outcomes = await inEach(async (each) => {
    const counting = await startFlakyProxy(inject('serviceUrl'))
    const key = `${its.key.slice(0, -4)}0000`
    const query = { brandId: its.brandId }
    const { message } = await runSample({ ...each, id: 'visibility', origin: counting.url, query, key })
      .then(
        () => new Error('No error'),
        (error: Error) => error,
      )
      .finally(counting.close)
    return {
      requests: [...counting.asked].flatMap(([target, agents]) =>
        target.includes('/visibility?') ? agents : [],
      ).length,
      message: /API key missing or invalid/.exec(message)?.[0],
    }
  })
  expect(outcomes).toEqual(eachHas({ requests: 1, message: 'API key missing or invalid' }))
})

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

  const typescript = /const WINDOW = \{[\s\S]*?\n\}/.exec(
    SAMPLES.typescript.write({ origin, endpoint, query }),
  )?.[0]
  expect(new Function(`${typescript}; return WINDOW`)()).toEqual({ brandId: hostile })
  expect(SAMPLES.python.write({ origin, endpoint, query })).toContain(
    `"brandId": ${JSON.stringify(hostile)},`,
  )
  expect(SAMPLES.sql.write({ origin, endpoint, query })).toContain(
    `url = '${origin}${endpoint.path}?${encoded}'`,
  )
})
