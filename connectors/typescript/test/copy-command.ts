import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type pg from 'pg'
import { afterAll, type ExpectStatic, inject } from 'vitest'
import { readStreams, type Stream } from '../../../site/reference/streams.ts'
import type { Row } from '../../../test/fixtures/call.ts'
import { sorted } from '../../../test/sync/compare-copy.ts'
import { environment } from '../../python-environment.ts'
import { bundleCommand } from '../build.ts'
import { openCopy } from '../cli/copy.ts'
import { folderStore } from '../cli/folder-store.ts'
import type { Store } from '../cli/store.ts'

// Starts in a third of the time that the sources take.
const programs = await mkdtemp(join(tmpdir(), 'export-api-command-'))
const COMMAND = join(programs, 'export-api.mjs')
await bundleCommand(COMMAND)
afterAll(() => rm(programs, { recursive: true }))

export const METRICS = readStreams().filter(({ kind }) => kind === 'metric')

type Environment = Readonly<Record<string, string>>

/** A key, where the service is when it is not that of the whole run, and the variables of a bucket. */
export type Access = { readonly key: string; readonly url?: string; readonly env?: Environment }

/** Starts the command. */
export const start = ({ key, url = inject('serviceUrl'), env }: Access, args: readonly string[]) =>
  spawn(process.execPath, [COMMAND, ...args], {
    env: { EXPORT_API_URL: url, EXPORT_API_KEY: key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** A line that the command logs. */
type Line = { readonly event: string; readonly message?: string; readonly [field: string]: unknown }

/** Waits for the end of the command. Returns its exit code and what it printed. */
export async function outputOf(child: ReturnType<typeof start>) {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

/** Runs the command to its end. Parses what it logs. */
export async function exportApi(access: Access, ...args: readonly string[]) {
  const { stdout, ...end } = await outputOf(start(access, args))
  const lines = stdout.split('\n').slice(0, -1)
  return { ...end, log: lines.map((line): Line => JSON.parse(line)) }
}

/** Runs statements of DuckDB, and returns the rows of the last one. Those of `setup` print nothing. */
export async function duckdb(sql: string, { file = ':memory:', setup = '' } = {}): Promise<Row[]> {
  const program = join(await environment('duckdb'), 'duckdb')
  const silent = ['-cmd', '.output /dev/null', '-cmd', setup, '-cmd', '.output']
  const args = ['-json', ...(setup === '' ? [] : silent), file, `set timezone = 'UTC'; ${sql}`]
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: Number.POSITIVE_INFINITY })
  return stdout.trim() === '' ? [] : JSON.parse(stdout)
}

/** Returns the paths of the files that the latest version of a table has, from the copy. */
export async function filesIn(store: Store, endpoint: string): Promise<string[]> {
  const { brands, metrics } = await openCopy(store)
  const { name, snapshot } = metrics.get(endpoint) ?? brands
  return [...snapshot.files.keys()].map((path) => `${name}/${path}`)
}

/** Returns the expression of DuckDB that reads the latest version of a table. DuckDB's own `delta_scan` needs a download. */
export async function tableOf(copy: string, endpoint: string, store = folderStore(copy)): Promise<string> {
  const paths = await filesIn(store, endpoint)
  return `read_parquet([${paths.map((path) => `'${copy}/${path}'`)}])`
}

type Copied = {
  readonly db: pg.Pool
  readonly copy: string
  readonly brandId: string
  /** A bucket, and the statements with which DuckDB reads it. */
  readonly store?: Store
  readonly setup?: string | undefined
}

/** Expects that DuckDB reads the same rows of a brand from a copy as the views have. */
export async function expectExact(
  expect: ExpectStatic,
  { db, copy, brandId, store, setup }: Copied,
): Promise<void> {
  for (const stream of METRICS) {
    const table = await tableOf(copy, stream.endpoint, store)
    const copied = await duckdb(`select * from ${table} where brand_id = '${brandId}'`, { setup })
    expect([stream.name, sorted(copied)]).toEqual([stream.name, await viewRows(db, stream, brandId)])
  }
}

/** Returns the rows of a brand in the view of a metric, as sorted texts. */
export async function viewRows(
  db: pg.Pool,
  { name, columns }: Pick<Stream, 'name'> & { readonly columns: readonly { readonly name: string }[] },
  brandId: string,
): Promise<string[]> {
  const { rows } = await db.query<{ row: Row }>(
    `select to_jsonb(defined) as row
     from (select ${columns.map((column) => `"${column.name}"`)} from metrics.${name} where brand_id = $1) as defined`,
    [brandId],
  )
  return sorted(rows.map(({ row }) => row))
}
