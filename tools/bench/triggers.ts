import type { ClientBase } from 'pg'
import { RAW } from './volume.ts'

/** Runs work while changes of the raw tables are not noted. */
export async function withoutTriggers<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
): Promise<Result> {
  for (const table of RAW) await client.query(`alter table ${table} disable trigger user`)
  try {
    return await work()
  } finally {
    for (const table of RAW) await client.query(`alter table ${table} enable trigger user`)
  }
}
