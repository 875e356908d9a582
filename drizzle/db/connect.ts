import pg from 'pg'
import { sqlState } from './sql-state.ts'

/** A mistake of whoever runs a command; its message is the whole answer. */
export class UsageError extends Error {}

/** Milliseconds that a server may take to be connected to. */
const PATIENCE_MS = 4_000

/** SQLSTATEs of a table, a function or a schema that is not there. */
const NOT_MIGRATED = new Set(['42P01', '42883', '3F000'])

/** Runs work on a connection to `DATABASE_URL`; throws a {@link UsageError} when it is not set or cannot be used. */
export async function withDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const url = process.env.DATABASE_URL
  if (!url) throw new UsageError('DATABASE_URL is not set: it names the database to work on.')
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('DATABASE_URL must look like postgresql://user:password@host:5432/database.')
  }
  try {
    return await withClient(url, work)
  } catch (error) {
    if (!NOT_MIGRATED.has(sqlState(error))) throw error
    throw new UsageError('The database does not have the current schema: npm run migrate brings it.')
  }
}

/** Runs work on a connection of its own to a database; throws a {@link UsageError} that names its variable when there is none to be had. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  variable = 'DATABASE_URL',
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  // A connection that breaks while work goes on is told by the query that it breaks.
  client.on('error', () => {})
  await client.connect().catch((error) => {
    throw new UsageError(`${variable} cannot be used: ${reasonOf(error)}.`)
  })
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** What went wrong, in a few words. Several addresses that refuse make an error without a message: the first speaks. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\.+$/, '')
}
