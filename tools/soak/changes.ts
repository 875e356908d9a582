import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { withClient } from '../../drizzle/db/connect.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { BASE } from '../../lib/app.ts'
import { addKey } from '../bench/tenant.ts'
import { LAST_DAY } from '../bench/volume.ts'
import { type BrandKey, logFailure, type Results, randomItem } from './clients.ts'

/** The days of the data, which end with {@link LAST_DAY}. */
export const DAYS = 90

export type Changes = {
  readonly url: string
  readonly databaseUrl: string
  readonly keys: readonly BrandKey[]
  readonly results: Results
  readonly isOver: () => boolean
}

const PAUSE_MS = { edit: 100, revocation: 500, refresh: 5_000 }

/** Changes that an application makes: `$1` is a brand, `$2` a day, `$3` a number. */
const EDITS = [
  `with answer as (
     insert into answers (prompt_id, model_id, market_id, answered_at)
     select id, 'model-' || $3::int % 5, md5('market' || $3::int % 4)::uuid, $2::date + interval '12 hours'
     from prompts where brand_id = $1 order by id limit 1 returning id)
   insert into answer_mentions (answer_id, name) select id, 'Acme' from answer`,
  `insert into citations (answer_id, url, domain, owned, recorded_at)
   select answers.id, 'https://late.example/' || $3::int, 'late.example', false, $2::date + interval '13 hours'
   from answers join prompts on prompts.id = prompt_id where brand_id = $1 and answered_at::date = $2::date limit 1`,
  `delete from answers where id = (
     select answers.id from answers join prompts on prompts.id = prompt_id
     where brand_id = $1 and answered_at::date = $2::date and $3::int is not null limit 1)`,
  `update prompts set retired_at = case when retired_at is null then $2::date end
   where id = (select id from prompts where brand_id = $1 order by id offset $3::int % 40 limit 1)`,
  `update brands set aliases = array['Acme Inc', 'Alias ' || $3::int] where id = $1 and $2::date is not null and $3::int % 20 = 0`,
]

/** Repeats work with pauses until the end. Returns how often it was done. */
async function repeat(
  { isOver }: Changes,
  pauseMs: number,
  work: (count: number) => Promise<unknown>,
): Promise<number> {
  let count = 0
  for (; !isOver(); count += 1) {
    await work(count)
    await sleep(pauseMs)
  }
  return count
}

/** Changes rows of random brands and days. */
export const edit = (changes: Changes): Promise<number> =>
  withClient(changes.databaseUrl, (client) =>
    repeat(changes, PAUSE_MS.edit, async (count) => {
      const day = new Date(Date.parse(LAST_DAY) - Math.floor(Math.random() * DAYS) * 86_400_000)
      const values = [randomItem(changes.keys).brandId, day.toISOString().slice(0, 10), count]
      await client.query(EDITS[count % EDITS.length] ?? '', values)
    }),
  )

/** Creates a key, reads with it, revokes it, and reads again: the second response must be 401. */
export const revoke = (changes: Changes): Promise<number> =>
  withClient(changes.databaseUrl, (client) =>
    repeat(changes, PAUSE_MS.revocation, async () => {
      const { id, key } = await addKey(client, randomItem(changes.keys).organizationId)
      const expectStatus = async (what: string, expected: number) => {
        const headers = { 'X-API-Key': key, 'User-Agent': randomUUID() }
        const { statusCode, body } = await request(`${changes.url}${BASE}/brands`, { headers })
        await body.dump()
        if (statusCode !== expected) logFailure(changes.results, `${what}: ${statusCode}`)
      }
      await expectStatus('a new key', 200)
      await client.query('update api_keys set revoked_at = now() where id = $1', [id])
      await expectStatus('a revoked key', 401)
    }),
  )

/** Refreshes the daily rows, concurrently with the service's own refresh. */
export const refresh = (changes: Changes): Promise<number> =>
  withClient(changes.databaseUrl, (client) => repeat(changes, PAUSE_MS.refresh, () => refreshAll(client)))
