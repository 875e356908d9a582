import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { DEMO } from '../../drizzle/seed/demo.ts'
import { startRedirectingServer } from '../../test/faults/redirecting-server.ts'
import { pull, type Row } from '../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../test/fixtures/code-blocks.ts'
import { fillDaily } from '../../test/fixtures/fill-daily.ts'
import { addHostileTexts } from '../../test/fixtures/hostile-texts.ts'
import { hasAll } from '../../test/fixtures/programs.ts'
import { brand, database } from '../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../test/fixtures/tenant.ts'
import { startFaultProxy } from '../certify/fault-proxy.ts'
import { environment } from '../python-environment.ts'
import { expectTyped } from '../test-support/column-types.ts'
import { type Server, startPostgres } from '../test-support/postgres.ts'

// Runs the code of connectors/recipes/README.md as it stands there, apart from address, key, brand and dates.

const WINDOW = { fromDate: '0001-01-01', toDate: '9999-12-31' }
const METRICS = ['citation-share', 'sentiment', 'visibility']

const db = database()
const isInstalled = hasAll('curl', 'psql')
const blocks = await readCodeBlocks('../connectors/recipes/README.md')

/** It has plain rows, hostile ones, and rows of the first and the last day. The other brand of its key has none. */
let its: Tenant
let empty: string
let postgres: Server
let folder: string
/** A service whose files break before their last row. */
let breaking: { readonly url: string; readonly close: () => Promise<void> }

beforeAll(async () => {
  if (!isInstalled) return
  process.env.PATH = `${await environment('recipes')}:${process.env.PATH}`
  its = await tenant(db)
  const { brandId } = its
  for (const name of METRICS) {
    const rows = name === 'sentiment' ? 30 : 1500
    await fillDaily(db, { name, brandId, rows, first: '2026-10-01', days: 30 })
    for (const first of Object.values(WINDOW)) await fillDaily(db, { name, brandId, rows: 1, first, days: 1 })
  }
  for (const change of [
    `citation_share set domain = null where citations % 3 = 0`,
    `visibility set visibility_rate = total_prompts / 37.0 where true`,
    `sentiment set positive_weight = positive_mentions * 1234567.0123 where true`,
    `sentiment set sentiment_score = null where positive_mentions % 3 = 1`,
  ])
    await db.query(`update daily.${change} and brand_id = $1`, [brandId])
  await addHostileTexts(db, brandId, '2026-10-31')
  empty = await brand(db, its.org, { name: 'Without rows' })
  folder = await mkdtemp(join(tmpdir(), 'recipes-'))
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  postgres = await startPostgres(folder)
  breaking = await startFaultProxy(inject('serviceUrl'), () => async ({ url, headers }, response) => {
    const asked = { headers: { 'X-API-Key': String(headers['x-api-key']) } }
    const whole = await (await fetch(inject('serviceUrl') + url, asked)).text()
    response.write(whole.slice(0, whole.trimEnd().lastIndexOf('\n') + 1), () => response.destroy())
  })
})

afterAll(async () => {
  if (!isInstalled) return
  await breaking.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Where a recipe runs. */
type Place = {
  readonly url: string
  readonly key: string
  readonly brandId: string
  readonly folder: string
  readonly database: string
}

/** Makes a folder and a database. */
async function place(own: Partial<Place> = {}): Promise<Place> {
  const made = await mkdtemp(join(folder, 'run-'))
  const database = made.slice(-6)
  const here = {
    url: inject('serviceUrl'),
    key: its.key,
    brandId: its.brandId,
    folder: made,
    database,
    ...own,
  }
  await psql({ ...here, database: 'postgres' }, `create database "${database}"`)
  return here
}

/** Returns the code of a recipe for a place. */
const codeOf = (name: string, language: string, { url, key, brandId }: Place): string =>
  (blocks(name, language)[0] ?? '')
    .replaceAll('http://127.0.0.1:8787', url)
    .replaceAll(DEMO.key, key)
    .replaceAll(DEMO.brandId, brandId)
    .replaceAll('fromDate=2026-10-01', String(new URLSearchParams(WINDOW)))

/** Runs a program in a place. Returns what it prints; rejects with it when the program fails. */
async function run({ folder, key, database }: Place, program: string, ...args: string[]): Promise<string> {
  const { PATH } = process.env
  // The encoding of the client is not that of the files.
  const own = { ...postgres.env, PGDATABASE: database, PGCLIENTENCODING: 'latin1' }
  const options = {
    cwd: folder,
    env: { PATH, HOME: folder, EXPORT_API_KEY: key, ...own },
    maxBuffer: 2 ** 26,
  }
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${error.stderr}\n${error.stdout}`)
  })
  return stdout
}

const psql = (place: Place, statement: string): Promise<string> =>
  run(place, 'env', 'PGCLIENTENCODING=utf8', 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', statement)

/** Runs statements in ClickHouse's engine, over a database in the folder. */
const clickhouse = (place: Place, statements: string): Promise<string> =>
  run(place, 'python3', '-c', CHDB, statements)

const CHDB = `import sys
from chdb.session import Session
print(Session("clickhouse").query(sys.argv[1]), end="")`

/** Writes what the data frames hold, as a notebook would show it. */
const WRITE_FRAMES = `
for name in ("citation_share", "sentiment"):
    frame = globals()[name]
    types = [str(dtype) for dtype in frame.dtypes]
    frame["date"] = frame["date"].dt.date.map(str)
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump({"types": types, "rows": json.loads(frame.to_json(orient="records"))}, file)
`

const parseLines = (lines: string): Row[] =>
  lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

type Recipe = {
  readonly endpoints: readonly string[]
  readonly run: (place: Place) => Promise<string>
  /** Returns the rows of a table and the types of its columns. Rejects when the recipe has left no table. */
  readonly read: (place: Place, table: string) => Promise<{ types: readonly string[]; rows: readonly Row[] }>
}

/** The recipes that load rows into a table. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  pandas: {
    endpoints: ['citation-share', 'sentiment'],
    run: (place) => run(place, 'python3', '-c', codeOf('pandas', 'python', place) + WRITE_FRAMES),
    read: async ({ folder }, table) => JSON.parse(await readFile(join(folder, `${table}.json`), 'utf8')),
  },
  PostgreSQL: {
    endpoints: ['visibility'],
    run: (place) => run(place, 'sh', '-c', codeOf('PostgreSQL', 'sh', place)),
    read: async (place, table) => {
      const types = `select to_json(data_type) from information_schema.columns where table_name = '${table}' order by ordinal_position`
      const rows = await psql(place, `select to_json(loaded) from ${table} as loaded`)
      return { types: parseLines(await psql(place, types)).map(String), rows: parseLines(rows) }
    },
  },
  ClickHouse: {
    endpoints: ['citation-share'],
    run: (place) => clickhouse(place, codeOf('ClickHouse', 'sql', place)),
    read: async (place, table) => {
      const types = `select type from system.columns where table = '${table}' order by position format JSONEachRow`
      const rows = await clickhouse(place, `select * from ${table} format JSONEachRow`)
      return {
        types: parseLines(await clickhouse(place, types)).map(({ type }) => String(type)),
        rows: parseLines(rows),
      }
    },
  },
}

const tableOf = (endpoint: string): string => endpoint.replaceAll('-', '_')

const served = (endpoint: string, brandId = its.brandId): Promise<Row[]> =>
  pull(`/${endpoint}`, { key: its.key, query: { brandId, ...WINDOW } })

const wrongKey = () => ({ key: its.key.replace(/.{4}$/, '0000') })

describe.skipIf(!isInstalled)('connectors/recipes/README.md', () => {
  describe.each(Object.entries(RECIPES))('%s', (_, { endpoints, run, read }) => {
    const expectNothing = async (here: Place) =>
      expect(await read(here, tableOf(endpoints[0] ?? '')).catch(() => ({ rows: [] }))).toMatchObject({
        rows: [],
      })

    test.for(['all', 'no'])('loads %s rows with their types', async (kind) => {
      const here = await place(kind === 'no' ? { brandId: empty } : {})
      await run(here)
      for (const endpoint of endpoints) {
        const { types, rows } = await read(here, tableOf(endpoint))
        expectTyped(endpoint, types)
        const [loaded, expected] = [rows, await served(endpoint, here.brandId)].map((all) =>
          all.map((row) => JSON.stringify(row)).sort(),
        )
        expect(loaded).toEqual(expected)
      }
    })

    test('fails with a wrong key and when the transfer breaks, and loads nothing', async () => {
      for (const [own, message] of [
        [wrongKey(), /401|\(22\)/],
        [{ url: breaking.url }, /\(18\)|IncompleteRead|Unexpected EOF/],
      ] as const) {
        const here = await place(own)
        await expect(run(here)).rejects.toThrow(message)
        await expectNothing(here)
      }
    })

    test('follows no redirect, and loads nothing', async () => {
      const { url, followed, close } = await startRedirectingServer()
      onTestFinished(async () => void (await close()))
      const here = await place({ url })
      // curl takes a redirect for a success.
      await run(here).catch(String)
      expect(followed).toEqual([])
      await expectNothing(here)
    })
  })

  test('the first look lists the brands', async () => {
    const here = await place()
    const listed = await run(here, 'sh', '-c', codeOf('A first look', 'sh', here))
    expect(listed).toMatch(new RegExp(`^id,name,[^\r]*\r\n${its.brandId},`))
  })

  test('curl saves whole files under the names of the service, and no other', async () => {
    const here = await place()
    const code = codeOf('curl', 'sh', here)
    await run(here, 'sh', '-c', code)
    for (const [url = ''] of code.matchAll(/http:[^']*/g)) {
      const whole = await fetch(url, { headers: { 'X-API-Key': its.key } })
      const [, name = ''] = /filename="(.*)"/.exec(whole.headers.get('Content-Disposition') ?? '') ?? []
      expect(await readFile(join(here.folder, name), 'utf8')).toBe(await whole.text())
    }
    expect(await readdir(here.folder)).toHaveLength(2)
    const [first = ''] = code.split(/(?<!\\)\n/)
    await expect(run(here, 'sh', '-c', first)).rejects.toThrow('curl: (23)')
    for (const [own, message] of [
      [wrongKey(), 'curl: (22)'],
      [{ url: breaking.url }, 'curl: (18)'],
    ] as const) {
      const there = await place(own)
      const [first = ''] = codeOf('curl', 'sh', there).split(/(?<!\\)\n/)
      await expect(run(there, 'sh', '-c', first)).rejects.toThrow(message)
      expect(await readdir(there.folder)).toEqual([])
    }
  })
})
