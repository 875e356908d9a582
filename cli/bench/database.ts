import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { withClient } from '../../drizzle/db/connect.ts'
import { forPg } from '../../drizzle/db/connection-string.ts'
import { migrateToLatest } from '../workers/migrate-to-latest.ts'

const created = new Set<() => Promise<unknown>>()

/** A migrated database, which is dropped at the end of the block that declares it. */
export type Database = AsyncDisposable & { readonly url: string; readonly client: pg.Client }

export async function createDatabase(serverUrl: string): Promise<Database> {
  const name = `export_api_bench_${randomBytes(6).toString('hex')}`
  const url = new URL(forPg(serverUrl))
  url.pathname = `/${name}`
  const onServer = (sql: string) => withClient(serverUrl, (client) => client.query(sql))
  const drop = () => onServer(`drop database if exists ${name} with (force)`)
  created.add(drop)
  await onServer(`create database ${name}`)
  await withClient(url.href, migrateToLatest)
  const client = new pg.Client({ connectionString: url.href })
  // Dropping the database of an interrupted run breaks the connection, which would end the process.
  client.on('error', () => {})
  await client.connect()
  // The CPU time of parallel workers would disappear with their processes.
  await client.query(`alter database ${name} set max_parallel_workers_per_gather = 0`)
  return {
    url: url.href,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.end()
      created.delete(drop)
      await drop()
    },
  }
}

/** Drops the databases of a run that was interrupted or failed. */
export async function dropAll(): Promise<void> {
  for (const drop of created) await drop()
}
