import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DEMO } from '../../drizzle/seed/demo.ts'
import type { Row } from '../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../test/fixtures/code-blocks.ts'
import { duckdbSetup } from '../../test/fixtures/duckdb.ts'
import { environment } from '../python-environment.ts'

process.env.PATH = `${await environment('recipes')}:${process.env.PATH}`

const blocks = await readCodeBlocks('../connectors/recipes/README.md')

/** Where a recipe runs. */
export type Place = {
  readonly url: string
  readonly key: string
  readonly brandId: string
  readonly folder: string
  /** The dates of the request; those of the recipe when left out. */
  readonly dates?: string
  /** Variables of the environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Rows that a recipe loaded, and the types of their columns. */
export type Loaded = { readonly types: readonly string[]; readonly rows: readonly Row[] }

type Recipe = {
  /** Its heading. */
  readonly name: string
  /** The endpoints that it loads. */
  readonly endpoints: readonly string[]
  /** Runs it. Returns what it prints; rejects with it when it fails. */
  readonly run: (place: Place) => Promise<string>
  /** Reads what it loaded; null when it left no table. */
  readonly read: (place: Place, endpoint: string) => Promise<Loaded | null>
  /** What it prints when the transfer breaks, and when the key is wrong. */
  readonly broken: RegExp
  readonly unauthorized: RegExp
}

const ADDRESS = 'http://127.0.0.1:8787'
const DATES = 'fromDate=2026-10-01'

/** Returns the code of a recipe for another address, key, brand and dates. */
export function codeOf(name: string, language: string, place: Place): string {
  const { url, key, brandId, dates = DATES } = place
  const [code = ''] = blocks(name, language)
  return code
    .replaceAll(ADDRESS, url)
    .replaceAll(DEMO.key, key)
    .replaceAll(DEMO.brandId, brandId)
    .replaceAll(DATES, dates)
}

/** Runs a program in a place. Returns what it prints; rejects with it when the program fails. */
export async function runIn(
  { folder, key, env }: Place,
  program: string,
  ...args: string[]
): Promise<string> {
  const { PATH } = process.env
  const options = {
    cwd: folder,
    env: { PATH, HOME: folder, EXPORT_API_KEY: key, ...env },
    maxBuffer: Number.POSITIVE_INFINITY,
  }
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${error.stderr}\n${error.stdout}`)
  })
  return stdout
}

export const psql = (place: Place, ...args: string[]): Promise<string> =>
  runIn(place, 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', ...args)

const duckdb = (place: Place, statements: string): Promise<string> => {
  const setup = duckdbSetup(place.folder)
  const options = ['-bail', '-list', '-noheader', '-cmd', setup]
  return runIn(place, 'duckdb', ...options, 'export.duckdb', '-c', statements)
}

/** Runs a statement in ClickHouse's engine, over a database in the folder. */
const clickhouse = (place: Place, statement: string): Promise<string> =>
  runIn(place, 'python3', '-c', CHDB, statement)

const CHDB = `import sys
from chdb.session import Session
print(Session("clickhouse").query(sys.argv[1]), end="")`

/** Writes down what a data frame holds, as a notebook would show it. */
const WRITE_FRAMES = `
import json
for name in ("citation_share", "sentiment"):
    frame = globals()[name]
    types = [str(dtype) for dtype in frame.dtypes]
    frame["date"] = frame["date"].dt.date.map(str)
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump({"types": types, "rows": json.loads(frame.to_json(orient="records"))}, file)
`

const tableOf = (endpoint: string): string => endpoint.replaceAll('-', '_')

const parseLines = (text: string): Row[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Runs statements that let the server run curl. */
async function loadInPostgres(place: Place, statements: string): Promise<string> {
  await writeFile(join(place.env.PGHOST ?? '', 'export-api-header'), `X-API-Key: ${place.key}\n`)
  await writeFile(join(place.folder, 'recipe.sql'), statements)
  return psql(place, '-f', 'recipe.sql')
}

/** A client whose encoding is not that of the files. */
const inLatin1 = (place: Place): Place => ({ ...place, env: { ...place.env, PGCLIENTENCODING: 'latin1' } })

async function readPostgres(place: Place, endpoint: string): Promise<Loaded> {
  const table = tableOf(endpoint)
  const rows = await psql(place, '-c', `select to_json(loaded) from ${table} as loaded`)
  const types = `select to_json(array_agg(data_type order by ordinal_position))
    from information_schema.columns where table_name = '${table}' and is_generated = 'NEVER'`
  return {
    types: JSON.parse(await psql(place, '-c', types)),
    rows: parseLines(rows).map(({ url_hash, ...row }) => row),
  }
}

/** The recipes that load rows into a table. */
export const RECIPES: readonly Recipe[] = [
  {
    name: 'DuckDB',
    endpoints: ['citation-share', 'sentiment'],
    run: (place) => duckdb(place, codeOf('DuckDB', 'sql', place)),
    read: async (place, endpoint) => {
      const table = tableOf(endpoint)
      const columns = `select data_type from duckdb_columns() where table_name = '${table}' order by column_index`
      const types = (await duckdb(place, columns)).split('\n').slice(0, -1)
      if (types.length === 0) return null
      const rows = await duckdb(place, `select to_json(loaded) from ${table} as loaded`)
      return { types, rows: parseLines(rows) }
    },
    broken: /Transferred a partial file/,
    unauthorized: /HTTP 401/,
  },
  {
    name: 'pandas',
    endpoints: ['citation-share', 'sentiment'],
    run: (place) => runIn(place, 'python3', '-c', codeOf('pandas', 'python', place) + WRITE_FRAMES),
    read: ({ folder }, endpoint) =>
      readFile(join(folder, `${tableOf(endpoint)}.json`), 'utf8').then(JSON.parse, () => null),
    broken: /IncompleteRead/,
    unauthorized: /HTTP Error 401/,
  },
  {
    name: 'PostgreSQL',
    endpoints: ['citation-share'],
    run: (place) => loadInPostgres(inLatin1(place), codeOf('PostgreSQL', 'sql', place)),
    read: readPostgres,
    broken: /program .* failed[\s\S]* exit code 18/,
    unauthorized: /program .* failed[\s\S]* exit code 22/,
  },
  {
    name: 'psql',
    endpoints: ['visibility'],
    run: (place) => runIn(inLatin1(place), 'sh', '-c', codeOf('psql', 'sh', place)),
    read: readPostgres,
    broken: /curl: \(18\)/,
    unauthorized: /curl: \(22\)/,
  },
  {
    name: 'ClickHouse',
    endpoints: ['citation-share', 'sentiment'],
    run: (place) => clickhouse(place, codeOf('ClickHouse', 'sql', place)),
    read: async (place, endpoint) => {
      const table = tableOf(endpoint)
      const columns = `select type from system.columns where table = '${table}' order by position format JSONEachRow`
      const types = parseLines(await clickhouse(place, columns)).map(({ type }) => String(type))
      if (types.length === 0) return null
      return { types, rows: parseLines(await clickhouse(place, `select * from ${table} format JSONEachRow`)) }
    },
    broken: /Unexpected EOF/,
    unauthorized: /HTTP status code: 401/,
  },
]
