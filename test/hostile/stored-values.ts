import type pg from 'pg'
import type { Emulator } from '../../emulator/emulator.ts'

/** Every key of the service's Redis with its value. */
export async function storedValues({ redis }: Pick<Emulator, 'redis'>): Promise<string[]> {
  const ask = async (...command: string[]): Promise<unknown> => {
    const reply = await redis(command)
    if ('error' in reply) throw new Error(reply.error)
    return reply.result
  }
  const keys = await ask('KEYS', '*')
  if (!Array.isArray(keys)) throw new TypeError('KEYS gave no list')
  return Promise.all(
    keys.map(async (key) => `${key} ${JSON.stringify(await ask(...(await readerOf(String(key)))))}`),
  )

  async function readerOf(key: string): Promise<string[]> {
    const type = String(await ask('TYPE', key))
    if (type === 'string') return ['GET', key]
    if (type === 'hash') return ['HGETALL', key]
    // It expired in the meantime.
    if (type === 'none') return ['EXISTS', key]
    throw new Error(`No command reads a ${type}`)
  }
}

/** Every row of every table of a database, as JSON. */
export async function storedRows(db: pg.Pool): Promise<string[]> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: string }>(
      `select to_jsonb(each)::text as row from ${name} as each`,
    )
    found.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return found
}
