import type pg from 'pg'

/** Whether work of another session ends by itself, or waits for a lock until another transaction ends. */
export async function settles(
  db: pg.Pool | pg.ClientBase,
  work: Promise<unknown>,
  pid: number,
): Promise<boolean> {
  let done = false
  const end = work.then(
    () => (done = true),
    () => (done = true),
  )
  while (!done) {
    const { rows } = await db.query('select cardinality(pg_blocking_pids($1)) > 0 as waits', [pid])
    if (rows[0].waits && !done) return false
    await Promise.race([end, new Promise(setImmediate)])
  }
  return true
}
