import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../../drizzle/migrate.ts'

/** A migrated database that only its maker uses. */
export type OwnDatabase = { readonly url: string; readonly drop: () => Promise<void> }

/** Makes a database of its own on a server, and brings it to the current schema. */
export async function createDatabase(serverUrl: string): Promise<OwnDatabase> {
  const name = `export_api_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  await withClient(url.href, migrate)
  return {
    url: url.href,
    drop: async () => {
      await withClient(serverUrl, (client) => client.query(`drop database ${name} with (force)`))
    },
  }
}

/** Runs work on a connection of its own. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
