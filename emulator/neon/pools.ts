import pg, { type Pool } from 'pg'
import { GuardedSocket } from './guarded-socket.ts'

/** One connection pool for each role that the Workers' connection strings name. */
export interface Pools {
  /** The pool whose connections have the rights and settings of the connection string's role, if the database has it. */
  forConnection(connectionString: string | null): Promise<Pool>
  end(): Promise<void>
}

/** Connects lazily. With `roles`, connections take on the role of the connection string where `databaseUrl`'s user may. */
export function openPools(databaseUrl: string, { roles }: { roles: boolean }): Pools {
  const opened: Pool[] = []
  const open = (options = ''): Pool => {
    const pool = new pg.Pool({
      connectionString: withOptions(databaseUrl, options),
      stream: () => new GuardedSocket(),
      max: 20,
      connectionTimeoutMillis: 5_000,
      allowExitOnIdle: true,
    })
    pool.on('error', () => undefined)
    opened.push(pool)
    return pool
  }
  const plain = open()
  const pools = new Map<string, Promise<Pool>>()
  const openAs = async (role: string): Promise<Pool> => {
    const settings = await roleSettings(plain, role)
    return settings === null
      ? plain
      : open([`role=${role}`, ...settings].map((each) => `-c ${each}`).join(' '))
  }
  return {
    forConnection: async (connectionString) => {
      const role =
        roles && connectionString !== null ? decodeURIComponent(new URL(connectionString).username) : ''
      if (role === '') return plain
      const pool = pools.get(role) ?? openAs(role)
      pools.set(role, pool)
      // A failure is not cached: the database may be back at the next request.
      pool.catch(() => pools.delete(role))
      return pool
    },
    end: async () => {
      await Promise.all(opened.map((pool) => pool.end()))
    },
  }
}

/** Adds startup options to a URL. pg would otherwise ignore the URL's own. */
function withOptions(address: string, options: string): string {
  const url = new URL(address)
  const all = [url.searchParams.get('options') ?? '', options].filter((each) => each !== '')
  if (all.length > 0) url.searchParams.set('options', all.join(' '))
  return url.href
}

/** The settings of a role in this database as `name=value`; null when the role does not exist or may not be taken on. */
async function roleSettings(pool: Pool, role: string): Promise<string[] | null> {
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
