import { setTimeout as delay } from 'node:timers/promises'
import pg, { type Pool, type PoolClient } from 'pg'
import { forPg } from '../../drizzle/db/connection-string.ts'
import { type Account, NeonError } from './request.ts'

/** A connection of one request. */
export interface Connection {
  client: PoolClient
  /** Resets the connection and returns it to its pool. */
  release(): void
  /** Closes the connection, as Neon does after an error. */
  destroy(): void
  /** Cancels the running query, and closes the connection. */
  cancel(): void
}

/** One connection pool for each role and database that the Workers' connection strings name. */
export interface Pools {
  /**
   * Waits in line as in Neon's pooler. Tries five times within 3 s as Neon's proxy does while Postgres refuses
   * connections. The connection has the rights and settings of the role, if the database has it. Throws `NeonError`.
   */
  connect(account: Account, signal: AbortSignal): Promise<Connection>
  end(): Promise<void>
}

/** The waits of Neon's proxy after each attempt to connect but the last. */
const RETRY_WAITS_MS = [200, 400, 800, 1600]

/** What Neon's proxy sends after each request. */
const RESET = [
  'ROLLBACK; CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; DEALLOCATE ALL; UNLISTEN *',
  'SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES',
].join(';')

/** Connects lazily. Connections take on the role of the connection string where `databaseUrl`'s user may. */
export function openPools(databaseUrl: string): Pools {
  const opened: Pool[] = []
  const open = (connectionString: string): Pool => {
    const pool = new pg.Pool({
      connectionString: forPg(connectionString),
      max: 20,
      // Longer than a Worker waits for its turn. A silent server's connection is closed then.
      connectionTimeoutMillis: 10_000,
      allowExitOnIdle: true,
    })
    pool.on('error', () => undefined)
    // The query that runs on a broken connection rejects; without a listener the event would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined))
    opened.push(pool)
    return pool
  }
  /** For lookups and cancels. */
  const own = open(databaseUrl)
  const accounts = new Map<string, Promise<{ pool: Pool; embedded: boolean }>>()
  const openFor = async (account: Account) => {
    const { embedded, settings } = await lookUp(own, account)
    return { pool: open(addressOf(databaseUrl, account, settings)), embedded }
  }
  const connect = async (account: Account): Promise<Connection> => {
    const key = JSON.stringify(account)
    const found = accounts.get(key) ?? openFor(account)
    accounts.set(key, found)
    // A failure is not cached: the database may be back at the next request.
    found.catch(() => accounts.delete(key))
    const { pool, embedded } = await found
    const client = await pool.connect()
    const destroy = () => client.release(true)
    return {
      client,
      // The embedded Postgres has one session, which other clients use as well.
      release: () =>
        void (embedded ? client.release() : client.query(RESET).then(() => client.release(), destroy)),
      destroy,
      cancel: () => {
        const pid: unknown = Reflect.get(client, 'processID')
        own.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined)
        destroy()
      },
    }
  }
  return {
    connect: async (account, signal) => {
      for (const wait of [...RETRY_WAITS_MS, 0]) {
        const connection = await connect(account).catch(throwUnlessRefused)
        if (signal.aborted) connection?.release()
        signal.throwIfAborted()
        if (connection) return connection
        await delay(wait, undefined, { signal })
      }
      throw new NeonError(500, "Couldn't connect to compute node")
    },
    end: async () => {
      await Promise.all(opened.map((pool) => pool.end()))
    },
  }
}

/** Throws any error but a refused connection, after which Neon's proxy tries again. */
function throwUnlessRefused(error: unknown): undefined {
  if (error instanceof pg.DatabaseError) {
    throw new NeonError(error.code === '3D000' ? 400 : 500, error.message, error)
  }
  const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
  if (!isRefused) throw new NeonError(500, `error communicating with the server: ${error}`)
}

/** The URL of another database of the server, with further settings. pg would otherwise ignore the URL's own options. */
function addressOf(databaseUrl: string, { database }: Account, settings: string[]): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${encodeURIComponent(database)}`
  const all = [
    url.searchParams.get('options') ?? '',
    ...settings.map((each) => `-c ${each.replaceAll(' ', '\\ ')}`),
  ]
  if (all.join('') !== '') url.searchParams.set('options', all.join(' '))
  return url.href
}

/** Whether Postgres is embedded; and a role with its settings as `name=value`, or nothing if it cannot be taken on. */
async function lookUp(pool: Pool, { user, database }: Account) {
  const { rows } = await pool.query<{ embedded: boolean; settings: string[] }>(
    `select version() like '%PGlite%' as embedded, array(
       select unnest('role=' || rolname || coalesce(setconfig, '{}'))
       from pg_roles
       left join pg_db_role_setting on setrole = pg_roles.oid
         and setdatabase = (select oid from pg_database where datname = $2)
       where rolname = $1 and pg_has_role(current_user, pg_roles.oid, 'member')
     ) as settings`,
    [user, database],
  )
  return { embedded: rows[0]?.embedded ?? false, settings: rows[0]?.settings ?? [] }
}
