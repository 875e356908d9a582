import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readStreams } from '../../reference/streams.ts'
import { comparable } from '../../tools/certify/comparable.ts'
import { copyReader, type Where } from '../../tools/certify/copies.ts'
import { environment } from '../../tools/certify/python-environment.ts'

const PACKAGE = fileURLToPath(new URL('../dbt/', import.meta.url))
const METRICS = readStreams().filter(({ kind }) => kind === 'metric')

/** The environment of dbt, which reads its profiles from a folder and writes into it. */
export const dbtEnvironment = (folder: string) => ({
  PATH: process.env.PATH,
  HOME: folder,
  DBT_PROFILES_DIR: folder,
  DBT_TARGET_PATH: join(folder, 'target'),
  DBT_LOG_PATH: folder,
  DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
})

type Loaded = {
  readonly loader: 'airbyte' | 'singer'
  /** A DuckDB file, and the schema of its tables. */
  readonly file: string
  readonly schema: string
  readonly folder: string
}

/** Builds the exact models of connectors/dbt over a copy in DuckDB, and runs their tests. Returns their metrics. */
export async function readExactModels({ loader, file, schema, folder }: Loaded) {
  const own = join(folder, 'dbt')
  await mkdir(own)
  const copy = { type: 'duckdb', path: file, schema: 'of_dbt', threads: 1 }
  const profiles = { export_api: { target: 'copy', outputs: { copy } } }
  await writeFile(join(own, 'profiles.yml'), JSON.stringify(profiles))
  const vars = JSON.stringify({ export_api_loader: loader, export_api_schema: schema })
  await promisify(execFile)(
    join(await environment('dbt'), 'dbt'),
    ['build', '--quiet', '--select', 'path:models/exact', '--vars', vars],
    { cwd: PACKAGE, env: dbtEnvironment(own) },
  ).catch((error) => {
    throw new Error(error.stdout)
  })
  return readMetrics({ copy: `duckdb:${file}`, schema: 'of_dbt', folder }, 'exact_')
}

/** Returns the rows of each metric of a copy as sorted texts. An empty text counts as null. */
export async function readMetrics(where: Where, prefix = ''): Promise<Record<string, string[]>> {
  const tables = await copyReader(where)(METRICS.map(({ name }) => prefix + name))
  return Object.fromEntries(
    METRICS.map(({ name, columns }) => [
      name,
      (tables.get(prefix + name)?.rows ?? [])
        .map((row) => columns.map(({ type, name }) => comparable(type, row[name] === '' ? null : row[name])))
        .map((values) => JSON.stringify(values))
        .sort(),
    ]),
  )
}
