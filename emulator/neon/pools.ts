import pg, { type Pool } from 'pg'
import { GuardedSocket } from './guarded-socket.ts'

/** The connections that all Workers share, apart by the role that a Worker's connection string names. */
export interface Pools {
  /** Where a connection string's role is one of the database's, its connections have its rights and settings. */
  of(connectionString: string | null): Promise<Pool>
  end(): Promise<void>
}

/**
 * Opens connections as they are needed; a server that goes away costs its connections and nothing else. With `roles`,
 * they take on the role of who asks, as far as whoever the address names may.
 */
export function openPools(databaseUrl: string, { roles }: { roles: boolean }): Pools {
  const open = (options = ''): Pool => {
    const pool = new pg.Pool({
      connectionString: withOptions(databaseUrl, options),
      stream: () => new GuardedSocket(),
      max: 20,
      connectionTimeoutMillis: 5_000,
      allowExitOnIdle: true,
    })
    pool.on('error', () => undefined)
    return pool
  }
  const plain = open()
  const pools = new Map<string, Pool>()
  return {
    of: async (connectionString) => {
      const role =
        roles && connectionString !== null ? decodeURIComponent(new URL(connectionString).username) : ''
      if (role === '') return plain
      const known = pools.get(role)
      if (known !== undefined) return known
      const settings = await settingsOf(plain, role)
      const found = pools.get(role)
      if (found !== undefined) return found
      const pool =
        settings === null ? plain : open([`role=${role}`, ...settings].map((each) => `-c ${each}`).join(' '))
      pools.set(role, pool)
      return pool
    },
    end: async () => {
      await Promise.all([...new Set([plain, ...pools.values()])].map((pool) => pool.end()))
    },
  }
}

/** An address with settings beside those that it has: by themselves, the address's own would take their place. */
function withOptions(address: string, options: string): string {
  const url = new URL(address)
  const all = [url.searchParams.get('options') ?? '', options].filter((each) => each !== '')
  if (all.length > 0) url.searchParams.set('options', all.join(' '))
  return url.href
}

/** What a role has set for itself in this database, as `name=value`; null when there is none that can be taken on. */
async function settingsOf(pool: Pool, role: string): Promise<string[] | null> {
  const { rows } = await pool.query<{ settings: string[] }>(
    `select coalesce(setconfig, '{}') as settings
     from pg_roles
     left join pg_db_role_setting on setrole = pg_roles.oid
       and setdatabase = (select oid from pg_database where datname = current_database())
     where rolname = $1 and pg_has_role(current_user, pg_roles.oid, 'member')`,
    [role],
  )
  return rows[0]?.settings ?? null
}
