import { neon } from '@neondatabase/serverless'
import { fillPlaceholders, type Query, type SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Env } from './env.ts'
import { refuse } from './errors.ts'
import { type RequestLog, timed } from './request-log.ts'

/** Milliseconds after which a silent database counts as away (contract, section 1). */
const PATIENCE_MS = 8000

const RETRY_AFTER_S = '5'

/** Text of one cell as Postgres writes it; null for SQL's null. */
export type Cell = string | null

/** The database, and the request for which it is asked; null where nobody's request is answered. */
export type Reader = { readonly env: Pick<Env, 'DATABASE_URL'>; readonly log: RequestLog | null }

const asText = { getTypeParser: () => (text: string) => text }

/** Writes a statement out once, with `sql.placeholder(name)` where each request's values go. */
export const prepare = (statement: SQL): Query => new PgDialect().sqlToQuery(statement)

/**
 * Sends one statement, in one request to Neon, and gives its rows as the text that Postgres wrote: no number passes
 * through a float. Anything but rows, from a refused connection to an answer cut in the middle, is refused with 503.
 */
export async function run(
  { env, log }: Reader,
  query: Query,
  values: Record<string, unknown>,
  patienceMs = PATIENCE_MS,
): Promise<Cell[][]> {
  try {
    const sql = neon(env.DATABASE_URL, {
      arrayMode: true,
      fetchOptions: { signal: AbortSignal.timeout(patienceMs) },
    })
    const params = fillPlaceholders(query.params, values)
    return asRows(await timed(log, 'neon', () => sql.query(query.sql, params, { types: asText })))
  } catch (error) {
    console.error(JSON.stringify({ event: 'database_failed', request_id: log?.id, ...describe(error) }))
    throw refuse('database', { 'Retry-After': RETRY_AFTER_S })
  }
}

function asRows(answer: unknown): Cell[][] {
  if (!Array.isArray(answer)) throw new TypeError('The answer holds no rows')
  return answer
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/** What may be logged of a failure: its kind and SQLSTATE. What else a server says can quote what it was sent. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error }
  const source =
    'sourceError' in error && error.sourceError instanceof Error ? error.sourceError.name : undefined
  const code = 'code' in error ? String(error.code) : ''
  return { kind: error.name, source, code: SQLSTATE.test(code) ? code : undefined }
}
