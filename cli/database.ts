import pg from 'pg'

/** A mistake of whoever runs a command; its message is the whole answer. */
export class CommandError extends Error {}

/** Runs work on a connection to `DATABASE_URL`; a server that cannot be reached is a {@link CommandError}. */
export async function withDatabase<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const url = process.env.DATABASE_URL
  if (!url) throw new CommandError('DATABASE_URL is not set: it names the database to work on.')
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new CommandError('DATABASE_URL must look like postgresql://user:password@host:5432/database.')
  }
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw new CommandError(`The database of DATABASE_URL cannot be reached: ${reason(error)}.`)
  }
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** What went wrong, in a few words. Some connection errors carry theirs in `errors` or `code` alone. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0])
  if (!(error instanceof Error)) return 'unknown error'
  return error.message || ('code' in error ? String(error.code) : error.name)
}
