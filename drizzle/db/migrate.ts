import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Client } from 'pg'
import journal from '../migrations/meta/_journal.json' with { type: 'json' }
import { UsageError } from './connect.ts'
import { installPreparedStatements, type StatementFunction } from './prepared-statements.ts'
import { type RowSchema, stageRowSchemas } from './row-schemas.ts'
import { sqlState } from './sql-state.ts'

/** Applied first: views of the migrations call `metrics.fold`. */
const BEFORE = ['sql/fold.sql']

const MIGRATIONS = journal.entries.map(({ tag }) => `migrations/${tag}.sql`)

/**
 * The current text of every function, trigger and grant. `roles.sql` comes last, since it grants what the others
 * create.
 */
const AFTER = [
  'settings',
  'sources',
  'triggers',
  'resolve',
  'changes',
  'refresh',
  'rolling-window',
  'share',
  'publish',
  'restart-share',
  'keys',
  'roles',
].map((topic) => `sql/${topic}.sql`)

/** An arbitrary number: migrations of one database wait for each other on this advisory lock. */
const LOCK = 7_220_641

/** The format of a schema's name that needs no quotes in SQL. */
export const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** Thrown when `public` holds tables of another application under names that the migrations use. */
export class SchemaConflictError extends Error {
  override message = 'The schema `public` has tables of another application with the same names.'
}

const DUPLICATE_TABLE = '42P07'

export type Migration = {
  readonly rowSchemas: readonly RowSchema[]
  /** The statements to install as functions. */
  readonly statements?: readonly StatementFunction[]
  /** Where a new database gets its tables, `public` by default. Tables that exist stay where they are. */
  readonly schema?: string | undefined
}

type SqlFile = { readonly name: string; readonly text: string; readonly sha256: string }

/**
 * Migrates a database to the current schema, in one transaction (docs/architecture.md, SQL files). Throws
 * {@link SchemaConflictError}, and {@link UsageError} for an old Postgres, another encoding than UTF8, and an applied migration
 * that was edited since.
 */
export async function migrate(
  client: Client,
  { rowSchemas, statements = [], schema }: Migration,
): Promise<void> {
  const { rows } = await client.query(
    `select current_setting('server_version') as server_version, current_setting('server_encoding') as encoding`,
  )
  const [{ server_version: version, encoding }] = rows
  if (Number.parseInt(version, 10) < 15)
    throw new UsageError(`The database is PostgreSQL ${version}. Use PostgreSQL 15 or later.`)
  if (encoding !== 'UTF8')
    throw new UsageError(
      `The database has the encoding ${encoding}. Use one that has UTF8, as after create database … template template0 encoding 'UTF8'.`,
    )
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    // A refresh or publisher under way holds these locks and waits for tables that the migrations would lock before it.
    for (const lock of ['daily.refresh', 'daily.resolve', 'daily.publish']) {
      await client.query('select pg_advisory_xact_lock(hashtext($1))', [lock])
    }
    await applyFiles(client, schema)
    await stageRowSchemas(client, rowSchemas)
    await installPreparedStatements(client, statements)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw sqlState(error) === DUPLICATE_TABLE ? new SchemaConflictError() : error
  }
}

// Drizzle's own migrator commits by itself, so it could not apply the functions in the transaction of the migrations.
async function applyFiles(client: Client, schema = 'public'): Promise<void> {
  const applied = await readApplied(client)
  const home = applied.values().next().value?.schema ?? schema
  if (!SCHEMA_NAME.test(home)) throw new TypeError(`${home} cannot be the name of a schema`)

  const before = await readFiles(BEFORE)
  const all = await readFiles(MIGRATIONS)
  const edited = all.find(({ name, sha256 }) => sha256 !== (applied.get(name)?.sha256 ?? sha256))
  if (edited) throw new UsageError(`${edited.name} is not the file with which the database was migrated.`)
  const migrations = all.filter(({ name }) => !applied.has(name))
  const after = await readFiles(AFTER)
  const isCurrent = [...before, ...after].every(({ name, sha256 }) => applied.get(name)?.sha256 === sha256)
  if (isCurrent && migrations.length === 0) return

  if (home !== 'public') await client.query(`create schema if not exists ${home}`)
  await client.query(`set local search_path = ${home}`)
  for (const { text } of before) await client.query(text)
  // Generated migrations name `public` in foreign keys alone, and otherwise rely on the search path.
  for (const { text } of migrations) await client.query(text.replaceAll('"public".', `"${home}".`))
  for (const { text } of after) await client.query(text)
  if (applied.size === 0) await trackChanges(client, home)
  await client.query('reset search_path')

  for (const { name, sha256 } of [...before, ...migrations, ...after]) {
    await client.query(
      `insert into daily.applied_sql (name, sha256, schema) values ($1, $2, $3)
       on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()
       where applied_sql.sha256 <> excluded.sha256`,
      [name, sha256, home],
    )
  }
}

/**
 * Tracks the new tables, which have no rows to log. Next to an application the triggers wait until its tables are mapped,
 * and each refresh recomputes the most recent days.
 */
async function trackChanges(client: Client, home: string): Promise<void> {
  await client.query(
    home === 'public'
      ? `select daily.create_trigger_functions(source), daily.create_triggers(base, source) from daily.source_tables()`
      : 'insert into daily.rolling_window (days) values (7)',
  )
}

type Applied = { readonly name: string; readonly sha256: string; readonly schema: string }

async function readApplied(client: Client): Promise<ReadonlyMap<string, Applied>> {
  const { rowCount } = await client.query(
    `select from pg_tables where schemaname = 'daily' and tablename = 'applied_sql'`,
  )
  if (rowCount === 0) return new Map()
  const { rows } = await client.query<Applied>('select name, sha256, schema from daily.applied_sql')
  return new Map(rows.map((row) => [row.name, row]))
}

const readFiles = (names: readonly string[]): Promise<SqlFile[]> =>
  Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(`../${name}`, import.meta.url), 'utf8')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
