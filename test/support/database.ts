import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { prepare } from './schema.ts'

/** A migrated database that only its maker uses. */
export type OwnDatabase = { readonly url: string; readonly drop: () => Promise<void> }

/** Makes a database of its own on a server, and brings it to the current schema, or to what `make` makes of it. */
export async function createDatabase(serverUrl: string, make = prepare): Promise<OwnDatabase> {
  const name = `export_api_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  await withClient(url.href, make)
  return {
    url: url.href,
    drop: () =>
      withClient(serverUrl, async (client) => {
        await connectionsClosed(client, name)
        await client.query(`drop database ${name} with (force)`)
      }),
  }
}

/** Waits for closing connections: dropping the database would make their end an error. */
async function connectionsClosed(client: pg.Client, database: string): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    const open = await client.query('select from pg_stat_activity where datname = $1', [database])
    if (open.rowCount === 0) return
    await sleep(50)
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
