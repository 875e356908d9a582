import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readStreams } from '../../site/reference/streams.ts'
import { comparable } from '../certify/comparable.ts'
import { copyReader, type Where } from '../certify/copies.ts'
import type { Row } from '../certify/service.ts'
import { environment } from '../python-environment.ts'

const PACKAGE = fileURLToPath(new URL('../dbt/', import.meta.url))
const METRICS = readStreams().filter(({ kind }) => kind === 'metric')

/** Runs SQL over a file of DuckDB. Returns the rows of its query, if it has one. */
export async function duckdb(file: string, sql: string): Promise<readonly Row[]> {
  const program = join(await environment('duckdb'), 'duckdb')
  const options = { maxBuffer: Number.POSITIVE_INFINITY }
  const { stdout } = await promisify(execFile)(program, ['-bail', '-json', file, sql], options)
  return stdout.trim() === '' ? [] : JSON.parse(stdout)
}

type Build = {
  readonly loader: 'dlt' | 'airbyte' | 'singer'
  /** The schema of its tables. */
  readonly schema: string
  /** Where dbt finds them and creates its views: an output of a profile. */
  readonly output: Readonly<Record<string, unknown>>
  /** Receives what dbt writes. */
  readonly folder: string
  readonly vars?: Readonly<Record<string, string>>
  readonly select?: string
}

/** A model or a test that does not pass, and how many rows it returned. */
export type Problem = { readonly name: string; readonly failures: number | null }

/** The environment of dbt, which reads its profiles from a folder and writes into it. */
export const dbtEnvironment = (folder: string) => ({
  PATH: process.env.PATH,
  HOME: folder,
  DBT_PROFILES_DIR: folder,
  DBT_TARGET_PATH: join(folder, 'target'),
  DBT_LOG_PATH: folder,
  DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
})

/** Builds models of connectors/dbt over a copy, the exact ones by default. Returns the models and tests that do not pass. */
export async function buildModels({
  loader,
  schema,
  output,
  folder,
  vars = {},
  select = 'path:models/exact',
}: Build): Promise<readonly Problem[]> {
  const results = join(folder, 'target/run_results.json')
  await mkdir(folder, { recursive: true })
  await rm(results, { force: true })
  const profiles = { export_api: { target: 'copy', outputs: { copy: { threads: 1, ...output } } } }
  await writeFile(join(folder, 'profiles.yml'), JSON.stringify(profiles))
  const variables = JSON.stringify({ export_api_loader: loader, export_api_schema: schema, ...vars })
  const args = ['build', '--quiet', '--select', select, '--vars', variables]
  const options = { cwd: PACKAGE, env: dbtEnvironment(folder) }
  const ended = await promisify(execFile)(join(await environment('dbt'), 'dbt'), args, options).catch(
    (error) => error,
  )
  const text = await readFile(results, 'utf8').catch(() => {
    throw new Error(ended.stdout)
  })
  const nodes: { unique_id: string; status: string; failures: number | null }[] = JSON.parse(text).results
  return nodes
    .filter(({ status }) => status !== 'success' && status !== 'pass')
    .map(({ unique_id, failures }) => ({ name: unique_id.split('.')[2] ?? '', failures }))
}

/** Returns SQL that lists the tests of exact models that do not pass, which were built in a folder. */
export async function proofOf(folder: string): Promise<string> {
  const compiled = join(folder, 'target/compiled/export_api/models/exact/exact.yml')
  const files = await readdir(compiled)
  const tests = files.map(async (file) => {
    const test = await readFile(join(compiled, file), 'utf8')
    return `select '${basename(file, '.sql')}' as name where exists (${test})`
  })
  return (await Promise.all(tests)).join(' union all ')
}

/** Returns the rows of each metric of a copy as sorted texts. */
export async function readMetrics(where: Where): Promise<Record<string, string[]>> {
  const tables = await copyReader(where)(METRICS.map(({ name }) => name))
  return Object.fromEntries(
    METRICS.map(({ name, columns }) => [
      name,
      (tables.get(name)?.rows ?? [])
        .map((row) => JSON.stringify(columns.map(({ type, name }) => comparable(type, row[name]))))
        .sort(),
    ]),
  )
}
