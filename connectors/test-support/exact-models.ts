import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { readStreams } from '../../site/reference/streams.ts'
import { comparable } from '../certify/comparable.ts'
import { copyReader, type Where } from '../certify/copies.ts'
import { environment } from '../python-environment.ts'

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

/** The proofs that fail: target-duckdb loads an empty domain as null. */
const UNPROVEN = {
  airbyte: [],
  singer: ['equals_changes_export_api__citation_share', 'equals_changes_export_api__citations'],
}

/** Runs a command of dbt over the exact models and their tests. Returns the folder of what it writes. */
async function runDbt(command: 'build' | 'compile', { loader, file, schema, folder }: Loaded) {
  const own = join(folder, 'dbt')
  await mkdir(own)
  const copy = { type: 'duckdb', path: file, schema: 'of_dbt', threads: 1 }
  const profiles = { export_api: { target: 'copy', outputs: { copy } } }
  await writeFile(join(own, 'profiles.yml'), JSON.stringify(profiles))
  const vars = JSON.stringify({ export_api_loader: loader, export_api_schema: schema })
  const { stdout } = await promisify(execFile)(
    join(await environment('dbt'), 'dbt'),
    [command, '--quiet', '--select', 'path:models/exact', '--vars', vars],
    { cwd: PACKAGE, env: dbtEnvironment(own) },
  ).catch((error) => error)
  const { results }: { results: { status: string; unique_id: string }[] } = JSON.parse(
    await readFile(join(own, 'target/run_results.json'), 'utf8').catch(() => {
      throw new Error(stdout)
    }),
  )
  const failed = results
    .filter(({ status }) => status !== 'success' && status !== 'pass')
    .map(({ unique_id }) => /\w+(?=_date__)/.exec(unique_id)?.[0] ?? unique_id)
  expect(failed.sort(), stdout).toEqual(UNPROVEN[loader])
  return join(own, 'target')
}

/**
 * Compiles the exact models of connectors/dbt and their tests for a copy in DuckDB. Returns the folder of their SQL, which
 * has the models as tables of the schema `of_dbt`.
 */
export const compileExactModels = async (loaded: Loaded): Promise<string> =>
  join(await runDbt('compile', loaded), 'compiled/export_api/models/exact')

/** Builds the exact models of connectors/dbt over a copy in DuckDB, and runs their tests. Returns their metrics. */
export async function readExactModels(loaded: Loaded) {
  await runDbt('build', loaded)
  const { file, folder } = loaded
  return readMetrics({ copy: `duckdb:${file}`, schema: 'of_dbt', folder }, 'export_api__')
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
