import type pg from 'pg'

/** What Postgres says of a view whose columns would get another type or collation, which needs it to be made anew. */
const OTHER_COLUMNS = '42P16'

/** Gives a view another query, in one transaction. */
export async function replaceView(db: pg.Client, name: string, query: string): Promise<void> {
  await db.query('begin')
  try {
    await db.query('savepoint as_it_was')
    try {
      await db.query(`create or replace view ${name} as ${query}`)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === OTHER_COLUMNS)) throw error
      await db.query('rollback to as_it_was')
      await db.query(`drop view ${name}`)
      await db.query(`create view ${name} as ${query}`)
      await db.query('select daily.grant_roles()')
    }
    await db.query('commit')
  } catch (error) {
    await db.query('rollback')
    throw new Error(`Postgres does not take this for ${name}: ${query}`, { cause: error })
  }
}
