import { NeonDbError, neon } from '@neondatabase/serverless'
import { fillPlaceholders, type Query } from 'drizzle-orm'
import type { Env } from './env.ts'
import { type HttpError, httpError } from './errors.ts'
import { memoize } from './memoize.ts'
import { callOf, type PreparedStatement } from './prepared-statement.ts'
import { type RequestLog, timed } from './request-log.ts'

/** Milliseconds after which a silent database counts as away (contract, section 1). */
const PATIENCE_MS = 8000

const RETRY_AFTER_S = '5'

/** Text of one cell as Postgres writes it; null for SQL's null. */
export type Cell = string | null

/** The database, and the request for which it is asked; null where nobody's request is answered. */
export type Reader = { readonly env: Pick<Env, 'DATABASE_URL'>; readonly log: RequestLog | null }

const asText = { getTypeParser: () => (text: string) => text }

/**
 * Sends one statement, in one request to Neon, and gives its rows as the text that Postgres wrote: no number passes
 * through a float. Anything but all of its rows, from a refused connection to an answer cut in the middle, is refused
 * with 503.
 */
export async function run(
  reader: Reader,
  query: Query,
  values: Record<string, unknown>,
  patienceMs = PATIENCE_MS,
): Promise<Cell[][]> {
  try {
    return await ask(reader, query, values, AbortSignal.timeout(patienceMs))
  } catch (error) {
    throw unavailable(error, reader.log)
  }
}

/**
 * Sends a statement as {@link run} does, by the name of the function that holds it. A database that has no such function
 * is asked with the statement's text, by this isolate from then on. Where the answer is too large, the smaller one is asked for.
 */
export async function runPrepared(
  reader: Reader,
  statement: PreparedStatement,
  values: Record<string, unknown>,
): Promise<Cell[][]> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const { smaller } = statement
  try {
    return await askPrepared(reader, statement, values, signal).catch((error: unknown) => {
      if (smaller === undefined || !isTooLarge(error)) throw error
      return askPrepared(reader, smaller, values, signal)
    })
  } catch (error) {
    throw unavailable(error, reader.log)
  }
}

async function askPrepared(
  reader: Reader,
  statement: PreparedStatement,
  values: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Cell[][]> {
  if (notInstalled.has(statement)) return ask(reader, statement, values, signal)
  return ask(reader, await callOf(statement), values, signal).catch((error: unknown) => {
    if (!NOT_INSTALLED.has(codeOf(error))) throw error
    notInstalled.add(statement)
    console.warn(JSON.stringify({ event: 'prepared_statement_missing', request_id: reader.log?.id }))
    return ask(reader, statement, values, signal)
  })
}

/** Neon answers with 507 what is larger than 10 MiB; its client tells the status in a sentence alone. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof NeonDbError && error.message.startsWith('Server error (HTTP status 507)')

/** SQLSTATEs of a function or a schema that is not there, or that this role may not use. */
const NOT_INSTALLED = new Set(['42883', '3F000', '42501'])

/** What this isolate has found not to be held. It decides nothing but how a statement is sent. */
const notInstalled = new WeakSet<PreparedStatement>()

const client = memoize((env: Reader['env']) => neon(env.DATABASE_URL, { arrayMode: true }))

async function ask(
  { env, log }: Reader,
  query: Query,
  values: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Cell[][]> {
  const params = fillPlaceholders(query.params, values)
  const options = { types: asText, fullResults: true, fetchOptions: { signal } } as const
  return asRows(await timed(log, 'neon', () => client(env).query(query.sql, params, options)))
}

/** The refusal with 503 of what the database answered, or that it did not; why is for the log alone. */
export function unavailable(reason: unknown, log: RequestLog | null): HttpError {
  console.error(JSON.stringify({ event: 'database_error', request_id: log?.id, ...describe(reason) }))
  return httpError('database', { 'Retry-After': RETRY_AFTER_S })
}

/** A list of cells; throws when a value is anything else. */
export function asCells(value: unknown): Cell[] {
  if (!Array.isArray(value) || !value.every(isCell)) throw new TypeError('These are no cells')
  return value
}

const isCell = (value: unknown): value is Cell => value === null || typeof value === 'string'

type Result = {
  readonly rows: readonly unknown[]
  readonly fields: readonly unknown[]
  readonly rowCount: unknown
}

/** The rows of a result: as many as it says, each as wide as it says. */
function asRows({ rows, fields, rowCount }: Result): Cell[][] {
  const cells = rows.map(asCells)
  if (cells.length !== rowCount || cells.some((row) => row.length !== fields.length)) {
    throw new TypeError('The answer is not whole')
  }
  return cells
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/** What may be logged of a failure: its kind and SQLSTATE. What else a server says can quote what it was sent. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error }
  const source =
    'sourceError' in error && error.sourceError instanceof Error ? error.sourceError.name : undefined
  const code = codeOf(error)
  return { kind: error.name, source, code: SQLSTATE.test(code) ? code : undefined }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''
