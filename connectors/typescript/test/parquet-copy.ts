import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type pg from 'pg'
import { afterAll, type ExpectStatic, inject } from 'vitest'
import { readStreams } from '../../../reference/streams.ts'
import type { Row } from '../../../test/fixtures/call.ts'
import { sorted } from '../../../test/sync/compare-copy.ts'
import { environment } from '../../../tools/certify/python-environment.ts'
import { bundleCommand } from '../build.ts'

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

/** Runs the command to its end. */
export async function exportApi(access: Access, ...args: readonly string[]) {
  const child = start(access, args)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const lines = stdout.split('\n').slice(0, -1)
  return { code: child.exitCode, stderr, log: lines.map((line): Line => JSON.parse(line)) }
}

/** Runs statements of DuckDB, and returns the rows of the last one. Those of `setup` print nothing. */
export async function duckdb(sql: string, { file = ':memory:', setup = '' } = {}): Promise<Row[]> {
  const program = join(await environment('duckdb'), 'duckdb')
  const silent = ['-cmd', '.output /dev/null', '-cmd', setup, '-cmd', '.output']
  const args = ['-json', ...(setup === '' ? [] : silent), file, `set timezone = 'UTC'; ${sql}`]
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: Number.POSITIVE_INFINITY })
  return stdout.trim() === '' ? [] : JSON.parse(stdout)
}

type Manifest = { readonly files: Record<string, string[]>; readonly states: Record<string, string> }

/** Reads the manifest of a folder. */
export const readManifest = (copy: string): Manifest =>
  JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8'))

/** Returns the path of a brand's file of a month, as the state in a folder names it. */
export function monthFile(copy: string, brandId: string, file: string): string {
  const state = readFileSync(join(copy, readManifest(copy).states[brandId] ?? ''), 'utf8')
  return join(copy, JSON.parse(state).files[file].path)
}

/** Returns the expression of DuckDB that reads the files of an endpoint. */
export const filesOf = (copy: string, endpoint: string): string =>
  `(select list_transform(files['${endpoint}'], lambda path: '${copy}/' || path) from '${copy}/manifest.json')`

type Copied = {
  readonly db: pg.Pool
  readonly copy: string
  readonly brandId: string
  /** Statements with which DuckDB reads a bucket. */
  readonly setup?: string | undefined
}

/** Expects that DuckDB reads the same rows of a brand from a copy as the views have. */
export async function expectExact(expect: ExpectStatic, { db, copy, brandId, setup }: Copied): Promise<void> {
  for (const { name, endpoint, columns } of METRICS) {
    const { rows } = await db.query<{ row: Row }>(
      `select to_jsonb(defined) - 'brand_id' as row
       from (select ${columns.map((column) => `"${column.name}"`)} from metrics.${name} where brand_id = $1) as defined`,
      [brandId],
    )
    const copied = await duckdb(
      `set variable files = ${filesOf(copy, endpoint)};
       select * exclude (brand_id, endpoint, brand) from read_parquet(getvariable('files')) where brand_id = '${brandId}'`,
      { setup },
    )
    expect([endpoint, sorted(copied)]).toEqual([endpoint, sorted(rows.map(({ row }) => row))])
  }
}
