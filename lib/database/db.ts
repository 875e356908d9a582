import { NeonDbError, neon } from '@neondatabase/serverless'
import { sqlState } from '../../drizzle/db/sql-state.ts'
import type { RequestLog } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { type HttpError, httpError } from '../request/errors.ts'
import { memoize } from '../request/isolate.ts'
import { timed } from '../request/request-log.ts'
import { callOf, type Statement } from './statement.ts'

/** Milliseconds after which a silent database counts as unavailable. */
const TIMEOUT_MS = 8000

const RETRY_AFTER_S = '5'

/** Neon counts requests per second. */
const RATE_LIMIT_RETRY_AFTER_S = '1'

/** A cell as the text that Postgres wrote; null for SQL's null. */
export type Cell = string | null

/** The one row of a result, by column name. */
export type Row = Readonly<Record<string, Cell>>

/** The database to ask, and the log of the request to ask for; null outside a request. */
export type QueryContext = { readonly env: Pick<Env, 'DATABASE_URL'>; readonly log: RequestLog | null }

/** The values of a statement's parameters. */
type Values = Readonly<Record<string, string | null | undefined>>

const asText = { getTypeParser: () => (text: string) => text }

/**
 * Sends one statement in one request to Neon and returns its only row, or null. Cells are the text that Postgres wrote:
 * numbers stay text. Throws `HttpError` 503 for everything else, from a refused connection to a
 * truncated response.
 */
export async function run(
  context: QueryContext,
  statement: Statement,
  values: Values,
  timeoutMs = TIMEOUT_MS,
): Promise<Row | null> {
  try {
    return await send(context, statement, values, AbortSignal.timeout(timeoutMs))
  } catch (error) {
    throw databaseError(error, context.log)
  }
}

/**
 * Runs a statement as {@link run} does, by calling its function. Sends the statement's text when the database has no
 * such function, or this role may not use it: until a new version or a restored backup is migrated.
 */
export async function runPrepared(
  context: QueryContext,
  statement: Statement,
  values: Values,
): Promise<Row | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await send(context, await callOf(statement), values, signal).catch((error: unknown) => {
      if (!MISSING_FUNCTION.has(sqlState(error))) throw error
      console.warn(JSON.stringify({ event: 'prepared_statement_missing', request_id: context.log?.id }))
      return send(context, statement, values, signal)
    })
  } catch (error) {
    throw databaseError(error, context.log)
  }
}

/** SQLSTATEs of a function or schema that does not exist, or that this role may not use. */
const MISSING_FUNCTION = new Set(['42883', '3F000', '42501'])

const client = memoize((env: QueryContext['env']) => neon(env.DATABASE_URL, { arrayMode: true }))

async function send(
  { env, log }: QueryContext,
  { sql, parameters }: Statement,
  values: Values,
  signal: AbortSignal,
): Promise<Row | null> {
  const params = parameters.map((name) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`The parameter ${name} has no value`)
    return value
  })
  const options = { types: asText, fullResults: true, fetchOptions: { signal } } as const
  return onlyRow(await timed(log, 'neon', () => client(env).query(sql, params, options)))
}

/** Logs the cause and returns a 503. */
export function databaseError(cause: unknown, log: RequestLog | null): HttpError {
  const description = describe(cause)
  console.error(JSON.stringify({ event: 'database_error', request_id: log?.id, ...description }))
  const retryAfter = description.reason === 'rate_limit' ? RATE_LIMIT_RETRY_AFTER_S : RETRY_AFTER_S
  return httpError('database', { 'Retry-After': retryAfter })
}

function asCells(value: unknown): Cell[] {
  if (!Array.isArray(value) || !value.every(isCell)) throw new TypeError('Not a list of cells')
  return value
}

const isCell = (value: unknown): value is Cell => value === null || typeof value === 'string'

type QueryResult = {
  readonly rows: readonly unknown[]
  readonly fields: readonly { readonly name: unknown }[]
  readonly rowCount: unknown
}

function onlyRow({ rows, fields, rowCount }: QueryResult): Row | null {
  const cells = rows.map(asCells)
  if (cells.length !== rowCount || cells.length > 1 || cells.some((row) => row.length !== fields.length)) {
    throw new TypeError('The result is incomplete')
  }
  const [row] = cells
  return row === undefined
    ? null
    : Object.fromEntries(fields.map(({ name }, index) => [name, row[index] ?? null]))
}

/** Returns what may be logged of a failure: names, codes and classes. The rest of a message can quote what was sent. */
function describe(error: unknown) {
  if (!(error instanceof Error)) return { error_name: typeof error }
  if (!(error instanceof NeonDbError)) return { error_name: error.name }
  const { status, code, reason } = parseNeonError(error)
  return { error_name: error.name, source: error.sourceError?.name, neon_status: status, code, reason }
}

/** What Neon answered: its HTTP status, the SQLSTATE and the class of its message, each if there is one. */
type NeonError = {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly reason: Reason | undefined
}

/** Classes of errors by how their messages begin; the first match counts. Messages can quote what was sent. */
const REASONS = [
  ['password authentication failed', 'wrong_password'],
  ['Too many connections to this endpoint', 'rate_limit'],
  ['Failed to acquire permit to connect', 'connection_limit'],
  ["Couldn't connect to compute node", 'compute_unreachable'],
  ['error communicating with the server', 'connection_lost'],
  ['connection closed', 'connection_lost'],
  ['Control plane request failed: endpoint cannot be found', 'endpoint_not_found'],
  ['Control plane request failed: endpoint is disabled', 'endpoint_disabled'],
  ['Control plane request failed: endpoint is temporarily unavailable', 'quota'],
  ['Your account or project has exceeded', 'quota'],
  ['Control plane request failed', 'control_plane'],
  ['This IP address', 'ip_not_allowed'],
  ['request is too large', 'too_large'],
  ['response is too large', 'too_large'],
  ['query would be affected by row-level security policy', 'row_level_security'],
  ['Row level security of', 'row_level_security'],
  // PgBouncer's, all with SQLSTATE 08P01.
  ['query_wait_timeout', 'pooler_timeout'],
  ['no more connections allowed', 'pooler_full'],
] as const

type Reason = (typeof REASONS)[number][1]

const SQLSTATE = /^[0-9A-Z]{5}$/

/** Neon's client puts every status but 400, and the body, into the message. */
const OTHER_STATUS = /^Server error \(HTTP status (\d{3})\): (.*)$/s

/** Parses an error of Neon's client. */
function parseNeonError(error: NeonDbError): NeonError {
  if (error.sourceError !== undefined) return { status: undefined, code: undefined, reason: undefined }
  const [, status = '400', body] = OTHER_STATUS.exec(error.message) ?? []
  const { message, code } = body === undefined ? error : parseBody(body)
  const reason = REASONS.find(([beginning]) => message?.startsWith(beginning))?.[1]
  return { status: Number(status), code: code && SQLSTATE.test(code) ? code : undefined, reason }
}

function parseBody(text: string): { message?: string; code?: string } {
  try {
    const body: unknown = JSON.parse(text)
    const { message, code } = Object.assign({ message: '', code: '' }, body)
    return { message: String(message), code: String(code) }
  } catch {
    return {}
  }
}
