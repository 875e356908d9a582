import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import type { Client } from 'pg'
import { installPreparedStatements, type StatementFunction } from './prepared-statements.ts'
import { sqlState } from './sql-state.ts'

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** Any fixed number: what two migrations of the same database at once wait for each other on. */
const LOCK = 7_220_641

/** The record of what was applied, where the tables are not in `public`: an application may have one of Drizzle's own. */
const RECORD = 'export_api_migrations'

/** What the name of a schema must look like, to stand in SQL as it is. */
export const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** That the database is another application's, and has no room for the tables in `public`. */
export class SchemaConflictError extends Error {
  override message = 'The tables of another application are in the way of those that the migrations make'
}

const DUPLICATE_TABLE = '42P07'

export type Migration = {
  /** What the database is to hold once it is current. */
  readonly statements?: readonly StatementFunction[]
  /** Where the tables are made; where they are already, they stay. */
  readonly schema?: string | undefined
}

/**
 * Brings the database of `client` to the current schema, in one transaction, and then has it hold some statements; two at
 * once run one after the other. Throws {@link SchemaConflictError} when the tables are to be made in `public`, and another
 * application has some of their names there or keeps its own record of migrations with Drizzle.
 */
export async function migrate(
  client: Client,
  { statements = [], schema = 'public' }: Migration = {},
): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [LOCK])
  try {
    const made = await homeOf(client)
    const home = made ?? schema
    if (home !== 'public') await migrateInto(client, home)
    else await migrateHere(client)
    // Beside an application nothing notes its changes until somebody says otherwise.
    if (home !== 'public' && made === undefined)
      await client.query('insert into daily.rolling_window (days) values (7)')
    await installPreparedStatements(client, statements)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK])
  }
}

/** The schema beside `public` that earlier migrations made the tables in. */
async function homeOf(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ home: string }>(
    'select schemaname as home from pg_tables where tablename = $1',
    [RECORD],
  )
  return rows[0]?.home
}

/** Migrates into `public`, unless that is another application's. */
async function migrateHere(client: Client): Promise<void> {
  if (await hasForeignRecord(client)) throw new SchemaConflictError()
  await applyMigrations(drizzle({ client }), { migrationsFolder: MIGRATIONS }).catch((error) => {
    throw sqlState(error) === DUPLICATE_TABLE ? new SchemaConflictError() : error
  })
}

/** Whether Drizzle's record of migrations is another application's: ours would seem to be applied already. */
async function hasForeignRecord(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ possible: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null and to_regclass('daily.refresh_queue') is null as possible`,
  )
  if (!rows[0]?.possible) return false
  // A migration that failed leaves an empty one.
  const { rowCount } = await client.query('select from drizzle.__drizzle_migrations limit 1')
  return rowCount !== 0
}

/** The migrations name one schema beside those of their own, `public`: here another one stands in its place. */
async function migrateInto(client: Client, home: string): Promise<void> {
  if (!SCHEMA_NAME.test(home)) throw new TypeError(`${home} cannot be the name of a schema`)
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp(MIGRATIONS, folder, { recursive: true })
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql'))) {
      const text = await readFile(join(folder, file), 'utf8')
      await writeFile(join(folder, file), text.replaceAll(/\bpublic\b/g, home))
    }
    await client.query(`set search_path = ${home}`)
    await applyMigrations(drizzle({ client }), {
      migrationsFolder: folder,
      migrationsSchema: home,
      migrationsTable: RECORD,
    })
  } finally {
    await client.query('reset search_path')
    await rm(folder, { recursive: true })
  }
}
