import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import { createDatabase, type OwnDatabase, withClient } from './database.ts'
import { prepare } from './schema.ts'

/** A database apart from the service's, on the server of the run or embedded as the run's is; migrated, or what `make` makes of it. */
export async function isolatedDatabase(make = prepare): Promise<OwnDatabase> {
  const server = process.env.DATABASE_URL
  if (inject('realPostgres') && server) {
    const { url, drop } = await createDatabase(server, make)
    const hasty = new URL(url)
    // What a crash of the server would lose is of no interest.
    hasty.searchParams.set('options', '-c synchronous_commit=off')
    return { url: hasty.href, drop }
  }
  const { url, close } = await startEmbeddedPostgres()
  await withClient(url, make)
  return { url, drop: close }
}

/** A database as above for one test file, with connections to it. */
export async function isolatedPool(make = prepare): Promise<{ readonly db: pg.Pool; readonly url: string }> {
  const { url, drop } = await isolatedDatabase(make)
  const db = new pg.Pool({ connectionString: url, max: 4 })
  afterAll(async () => {
    await db.end()
    await drop()
  })
  return { db, url }
}
