import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { migrateToLatest } from '../../../cli/workers/migrate-to-latest.ts'
import { type OwnDatabase, withClient } from '../../fixtures/database.ts'
import { isolatedDatabase } from '../../fixtures/isolated-database.ts'
import { database, exportKey } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'

const ROLES = ['export_api_reader', 'export_api_refresher', 'export_api_keys'] as const
type Role = (typeof ROLES)[number]

const DENIED = '42501'

const db = database()
const client = new pg.Client({ connectionString: inject('databaseUrl') })
beforeAll(() => client.connect())
afterAll(() => client.end())

/** Runs a statement as a role and rolls it back; returns the SQLSTATE of its error, or null. */
async function attempt(role: Role, statement: string): Promise<string | null> {
  await client.query(`begin; set local role ${role}`)
  try {
    await client.query(statement)
    return null
  } catch (error) {
    return error instanceof pg.DatabaseError ? (error.code ?? '') : String(error)
  } finally {
    await client.query('rollback')
  }
}

async function relations(): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p', 'v', 'm') and nspname !~ '^(pg_|information_schema)' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** The relations of which a role may read every column. */
const READS: Readonly<Record<Role, RegExp>> = {
  export_api_reader:
    /^(metrics\.brands|export_source\.(memberships|subscriptions)|daily\.(?!citation_days|change_log|brand_log|readable_brands|row_schemas|key_log|refresh_queue|queued_causes|rolling_window|due|reads|sources|applied_sql|published_brands|brand_rows|known_brands|publisher|current_objects|staged_objects).*)$/,
  export_api_refresher: /^daily\.(progress|queued_brands|refresh_queue|sources|rolling_window)$/,
  export_api_keys: /^(export_source\.(api_keys|memberships|subscriptions)|daily\.key_log)$/,
}

/** What a role may write, in at least one column. Only these rights lock a table against others. */
const WRITES: Readonly<Record<Role, readonly string[]>> = {
  export_api_reader: [],
  export_api_refresher: ['insert daily.change_log'],
  export_api_keys: ['insert export_source.api_keys', 'update export_source.api_keys'],
}

describe.each(ROLES)('%s', (role) => {
  test('reads what it needs and nothing else', async () => {
    const found = await relations()
    expect(found.length).toBeGreaterThan(25)
    for (const name of found) {
      expect([name, await attempt(role, `select * from ${name} limit 1`)]).toEqual([
        name,
        READS[role].test(name) ? null : DENIED,
      ])
    }
  })

  test('writes what it needs and nothing else', async () => {
    const { rows } = await db.query<{ right: string }>(
      `select format('%s %s', privilege, relation) as right
       from unnest($2::regclass[]) as relation,
         unnest('{insert,update,delete,truncate,references,trigger}'::text[]) as privilege
       where case
         when privilege in ('delete', 'truncate', 'trigger') then has_table_privilege($1, relation, privilege)
         else has_any_column_privilege($1, relation, privilege) end
       order by 1`,
      [role, await relations()],
    )
    expect(rows.map(({ right }) => right)).toEqual(WRITES[role])
  })

  test('creates nothing', async () => {
    for (const statement of [
      ...['daily', 'metrics', 'public'].map((schema) => `create table ${schema}.mine ()`),
      ...['create schema mine', 'create role mine', 'alter table brands add mine text'],
      ...['create temporary table mine ()', 'select lo_creat(-1)', 'select lo_create(0)'],
      `select lo_from_bytea(0, '')`,
    ])
      expect([statement, await attempt(role, `set transaction read write; ${statement}`)]).toEqual([
        statement,
        DENIED,
      ])
  })

  test('executes only its own functions', async () => {
    const { rows } = await db.query<{ name: string; allowed: boolean }>(
      `select proname as name, has_function_privilege($1, oid, 'execute') as allowed
       from pg_proc where pronamespace = 'daily'::regnamespace order by proname`,
      [role],
    )
    expect(rows.length).toBeGreaterThan(6)
    const own = {
      export_api_reader: /^none$/,
      export_api_refresher:
        /^(refresh|start_refresh|resolve|(take|release)_lease|due_brands|read_(batch|part|periods)|commit_(batch|first)|expire)$/,
      export_api_keys: /^none$/,
    }
    expect(rows.filter(({ allowed }) => allowed)).toEqual(rows.filter(({ name }) => own[role].test(name)))
  })

  test('cannot log in without a password, and takes on no other role', async () => {
    const { rows } = await db.query(
      `select rolcanlogin and rolpassword is null as open, rolsuper, rolcreaterole, rolbypassrls,
         exists (select from pg_auth_members where member = pg_authid.oid) as member
       from pg_authid where rolname = $1`,
      [role],
    )
    const none = { open: false, rolsuper: false, rolcreaterole: false, rolbypassrls: false, member: false }
    expect(rows).toEqual([none])
  })
})

test('the reader reads the columns of a key that authorization compares', async () => {
  const columns = (list: string) => attempt('export_api_reader', `select ${list} from export_source.api_keys`)
  expect(
    await columns('id, organization_id, created_by, scope, key_hash, brand_ids, expires_at, revoked_at'),
  ).toBeNull()
  for (const column of ['label', 'last_four', 'created_at']) expect(await columns(column)).toBe(DENIED)
  expect(await attempt('export_api_reader', 'select name from export_source.brands')).toBe(DENIED)
})

test('no function that runs as its owner looks for names in temporary schemas first', async () => {
  const { rows } = await db.query(
    `select proname from pg_proc where pronamespace = 'daily'::regnamespace and prosecdef
       and not coalesce(proconfig::text ~ 'search_path=[^"]*, pg_temp"', false)`,
  )
  expect(rows).toEqual([])
})

test('the reader’s transactions are read-only, have a timeout, write dates as ISO 8601, compile nothing and hide no rows', async () => {
  const { rows } = await db.query<{ settings: string[] }>(
    `select setconfig as settings from pg_db_role_setting
     where setrole = 'export_api_reader'::regrole
       and setdatabase = (select oid from pg_database where datname = current_database())`,
  )
  expect(rows[0]?.settings.sort()).toEqual([
    'DateStyle=iso',
    'default_transaction_read_only=on',
    'jit=off',
    'row_security=off',
    'statement_timeout=8s',
  ])
})

test('the key manager lets export keys end, which the log has, and changes nothing else of them', async () => {
  const { org, keyId } = await tenant(db)
  const { id: successor } = await exportKey(db, org)
  const alter = (change: string) =>
    attempt('export_api_keys', `update export_source.api_keys set ${change} where id = '${keyId}'`)
  expect(await alter('revoked_at = now()')).toBeNull()
  expect(
    await alter(`expires_at = now() from set_config('export_api.successor', '${successor}', true)`),
  ).toBeNull()
  expect(await alter('expires_at = now()')).toBe(DENIED)
  for (const column of ['organization_id', 'created_by', 'scope', 'label', 'key_hash', 'brand_ids'])
    expect([column, await alter(`${column} = ${column}`)]).toEqual([column, DENIED])
})

test('a key of another scope is not the key manager’s to create or to end', async () => {
  const { org, keyId } = await tenant(db, { key: { scope: 'tools' } })
  const { id: exported } = await exportKey(db, org)
  const columns = 'organization_id, created_by, label, last_four, key_hash, scope'
  const copy = (hash: string, scope: string) =>
    `insert into export_source.api_keys (${columns})
     select organization_id, created_by, label, last_four, ${hash}, '${scope}' from export_source.api_keys where id = '${keyId}'`
  const update = (change: string) => `update export_source.api_keys set ${change} where id = '${keyId}'`
  for (const statement of [
    copy(`'\\x${randomBytes(32).toString('hex')}'`, 'tools'),
    `${copy('key_hash', 'export')} on conflict (key_hash) do update set revoked_at = now()`,
    update('revoked_at = now()'),
    update('expires_at = now()'),
    update(`expires_at = now() from set_config('export_api.successor', '${exported}', true)`),
  ])
    expect([statement, await attempt('export_api_keys', statement)]).toEqual([statement, DENIED])
})

const END = '2026-10-01T12:00:00Z'

test.each([
  ['revoked', { revoked_at: END }, `revoked_at = '${END}'::timestamptz + interval '1 day'`],
  ['expired', { expires_at: END }, `expires_at = 'infinity'`],
  ['expiring', { expires_at: '2999-01-01' }, `expires_at = '2999-01-02'`],
])('a key is %s with %j, and the key manager cannot set %s', async (_, values, change) => {
  const { keyId } = await tenant(db, { key: values })
  const update = `update export_source.api_keys set ${change} where id = '${keyId}'`
  expect(await attempt('export_api_keys', update)).toBe(DENIED)
})

describe('a migration by a role that is no superuser', () => {
  const [owner, other] = ['owner', 'other'].map((name) => `${name}_${randomBytes(6).toString('hex')}`)
  let own: OwnDatabase

  beforeAll(async () => {
    own = await isolatedDatabase(async (migrating) => {
      await migrating.query(`create role ${owner} createrole; create role ${other};
        alter schema public owner to ${owner}; grant usage on schema public to ${other}`)
      const { rows } = await migrating.query('select current_database() as name')
      await migrating.query(`alter database ${rows[0].name} owner to ${owner}; set role ${owner}`)
      await migrateToLatest(migrating)
    })
  })

  afterAll(async () => {
    await own.drop()
    await client.query(`drop role if exists ${owner}, ${other}`)
  })

  test('takes temporary tables from the three roles, large objects from none, and nothing from others', async () => {
    const rights = await withClient(own.url, (connection) =>
      connection.query(
        `select rolname, has_database_privilege(oid, current_database(), 'temporary') as temporary,
         has_function_privilege(oid, 'lo_create(oid)', 'execute') as large
       from pg_roles where rolname = any ($1) order by rolname`,
        [[...ROLES, other]],
      ),
    )
    expect(rights.rows).toEqual([
      ...ROLES.toSorted().map((rolname) => ({ rolname, temporary: false, large: true })),
      { rolname: other, temporary: true, large: true },
    ])
  })
})

test('the refresher logs changes of all rows alone, refreshes and publishes', async () => {
  for (const [statement, code] of [
    [`insert into daily.change_log (source) values ('answers')`, null],
    [`select daily.refresh(null, '0 s', 1)`, null],
    [`select daily.take_lease('a test')`, null],
    [`insert into daily.change_log (source, brand_id) values ('brands', null)`, DENIED],
  ] as const)
    expect([statement, await attempt('export_api_refresher', statement)]).toEqual([statement, code])
})
