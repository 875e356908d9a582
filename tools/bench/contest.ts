import { isDeepStrictEqual } from 'node:util'
import type { ClientBase } from 'pg'
import { claimRedis } from '../../test/support/redis.ts'
import type { Contender, Contest, Running } from './contenders/contender.ts'
import { inDatabase } from './database.ts'
import { type Ask, connect, fetchBody } from './drive.ts'
import { fillMillion, type Row, rowsAt } from './million.ts'
import type { Setting } from './section.ts'
import { tenant } from './tenant.ts'

/** One page of one contender: how it is asked for, and its body, of which every row was compared with plain SQL. */
export type Page = { readonly ask: Ask; readonly expected: Buffer }

/** A contender that gives the right rows. */
export type Entrant = {
  readonly name: string
  readonly running: Running
  readonly first: Page
  readonly deep: Page
}

/** What a comparison works with; `failed` are those that do not run or give other rows, with the reason. */
export type Field = {
  readonly client: ClientBase
  readonly contest: Contest
  readonly entrants: readonly Entrant[]
  readonly failed: readonly { readonly name: string; readonly reason: string }[]
}

/** Starts contenders over one database with a million daily rows, and ends them all when the work is done. */
export function inContest<Result>(
  setting: Setting,
  contenders: readonly Contender[],
  work: (field: Field) => Promise<Result>,
): Promise<Result> {
  return inDatabase(setting.serverUrl, async (client, databaseUrl) => {
    const redis = process.env.REDIS_URL ? await claimRedis(process.env.REDIS_URL) : undefined
    const running: Running[] = []
    try {
      setting.tell('daily rows')
      const whose = await tenant(client)
      const { brandId, depth } = await fillMillion(client, whose, setting.sized)
      // Workers of a parallel plan end with it, and their processor time would be lost.
      await client.query(`do $$ begin
        execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database()); end $$`)
      const first = await rowsAt(client, brandId, 0)
      const deep = await rowsAt(client, brandId, depth)
      if (deep.before === undefined) throw new Error('There is no row ahead of the deep page')
      const { key } = whose
      const contest = { databaseUrl, redisUrl: redis?.url, key, brandId, depth, before: deep.before }

      const entrants: Entrant[] = []
      const failed: { name: string; reason: string }[] = []
      for (const { name, start } of contenders) {
        setting.tell(name)
        try {
          const server = await start(contest)
          running.push(server)
          entrants.push({
            name,
            running: server,
            first: await checked(server, server.first, first.page),
            deep: await checked(server, server.deep, deep.page),
          })
        } catch (error) {
          failed.push({ name, reason: error instanceof Error ? error.message : String(error) })
        }
      }
      return await work({ client, contest, entrants, failed })
    } finally {
      await Promise.all(running.map(({ server }) => server.close()))
      await redis?.release()
    }
  })
}

/** Asks for a page; its rows must be those that SQL gives, in their order. */
async function checked({ server, rowsOf }: Running, ask: Ask, rows: readonly Row[]): Promise<Page> {
  const pool = connect(server.url, 1)
  try {
    const expected = await fetchBody(pool, ask)
    const given = rowsOf(JSON.parse(expected.toString())).map(({ date, url }) => [date, url])
    if (
      !isDeepStrictEqual(
        given,
        rows.map(({ date, url }) => [date, url]),
      )
    ) {
      throw new Error(`${given.length} rows that are not the page's: ${expected.subarray(0, 200)}`)
    }
    return { ask, expected }
  } finally {
    await pool.close()
  }
}
