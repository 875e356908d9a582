import pg from 'pg'
import { isolatedDatabase } from './isolated.ts'

/** Connections to a database of their own: a pool, and two clients whose transactions may overlap. */
type Clients = {
  readonly db: pg.Pool
  readonly one: pg.Client
  readonly other: pg.Client
  readonly close: () => Promise<void>
}

export async function openClients(): Promise<Clients> {
  const { url, drop } = await isolatedDatabase()
  const db = new pg.Pool({ connectionString: url, max: 4 })
  const [one, other] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  await Promise.all([one.connect(), other.connect()])
  const close = async () => {
    await Promise.all([one.end(), other.end()])
    await db.end()
    await drop()
  }
  return { db, one, other, close }
}
