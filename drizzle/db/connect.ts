import pg from 'pg'
import { forPg } from './connection-string.ts'
import { sqlState } from './sql-state.ts'
import { UsageError } from './usage-error.ts'

export { UsageError }

/** Timeout of a connection attempt. */
const TIMEOUT_MS = 4_000

/** SQLSTATEs of a missing table, function or schema. */
const NOT_MIGRATED = new Set(['42P01', '42883', '3F000'])

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Runs work on a connection to `DATABASE_URL`. Throws {@link UsageError} when it is missing, malformed or
 * unreachable.
 */
export async function withDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const url = process.env.DATABASE_URL
  if (!url)
    throw new UsageError(
      'DATABASE_URL is not set. Set it to the connection string of the database; npm start prints one.',
    )
  try {
    return await withClient(url, work)
  } catch (error) {
    if (NOT_MIGRATED.has(sqlState(error))) {
      throw new UsageError('The database does not have the current schema. Run `npm run migrate`.')
    }
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new UsageError('Another transaction holds a lock on a table. Try again when it has ended.')
  }
}

/**
 * Runs work on a new connection. Throws {@link UsageError}, which names `variable`, when it is malformed or the server
 * cannot be reached.
 */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  variable = 'DATABASE_URL',
): Promise<Result> {
  const client = await connect(forPg(url, variable)).catch((error) => {
    throw new UsageError(`Cannot connect with ${variable}: ${reasonOf(error)}.`)
  })
  try {
    // A database may have other defaults. Drizzle reads times in this format only, refreshes refuse old snapshots, and
    // row level security that hides rows must be an error.
    await client.query(
      `set datestyle = iso; set default_transaction_isolation = 'read committed'; set row_security = off`,
    )
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  // Throws when a part is not percent-encoded as it should be, or names a file of a certificate that is missing.
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS })
  // The query that is running when a connection breaks rejects; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Returns an error's message. An `AggregateError` of several addresses has none, so the first address's is used. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\.+$/, '')
}
