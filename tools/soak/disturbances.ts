import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { withClient } from '../../drizzle/db/connect.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { BASE } from '../../lib/app.ts'
import { LAST_DAY } from '../bench/volume.ts'
import { anyOf, logFailure, type Seen } from './callers.ts'
import { addKey, DAYS, type Place } from './world.ts'

/** How often each thing was done. */
export type Done = { edits: number; revocations: number; refreshes: number }

export type Scene = {
  readonly url: string
  readonly places: readonly Place[]
  readonly databaseUrl: string
  readonly seen: Seen
  readonly done: Done
  readonly over: () => boolean
}

const PAUSE_MS = { edit: 100, revocation: 500, refresh: 5_000 }

/** What an application does to a brand meanwhile, in plain SQL: `$1` is the brand, `$2` a day, `$3` a number. */
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
  `update sentiment_phrases set polarity = (array['positive', 'neutral', 'negative'])[1 + $3::int % 3]
   where answer_id = (
     select answers.id from answers join prompts on prompts.id = prompt_id
     where brand_id = $1 and answered_at::date = $2::date limit 1)`,
  `update prompts set retired_at = case when retired_at is null then $2::date end
   where id = (select id from prompts where brand_id = $1 order by id offset $3::int % 40 limit 1)`,
  `update brands set aliases = array['Acme Inc', 'Alias ' || $3::int] where id = $1 and $2::date is not null and $3::int % 20 = 0`,
]

/** Changes raw rows of any brand and day, until the end. */
export const edit = ({ places, databaseUrl, done, over }: Scene): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (let turn = 0; !over(); turn += 1) {
      const day = new Date(Date.parse(LAST_DAY) - Math.floor(Math.random() * DAYS) * 86_400_000)
      await client.query(EDITS[turn % EDITS.length] ?? '', [
        anyOf(places).brandId,
        day.toISOString().slice(0, 10),
        turn,
      ])
      done.edits += 1
      await sleep(PAUSE_MS.edit)
    }
  })

/** Makes a key, reads with it, revokes it, and reads again: the very next request has to be refused. */
export const revoke = ({ url, places, databaseUrl, seen, done, over }: Scene): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    while (!over()) {
      const { id, key } = await addKey(client, anyOf(places).organizationId)
      const ask = async () => {
        const headers = { 'X-API-Key': key, 'User-Agent': randomUUID() }
        const { statusCode, body } = await request(`${url}${BASE}/brands`, { headers })
        await body.dump()
        return statusCode
      }
      const before = await ask()
      if (before !== 200) logFailure(seen, `a new key was answered ${before}`)
      await client.query('update api_keys set revoked_at = now() where id = $1', [id])
      const after = await ask()
      if (after !== 401) logFailure(seen, `a revoked key was answered ${after}`)
      done.revocations += 1
      await sleep(PAUSE_MS.revocation)
    }
  })

/** Refreshes the daily tables beside the service's own refresh. */
export const refresh = ({ databaseUrl, done, over }: Scene): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    while (!over()) {
      await refreshAll(client)
      done.refreshes += 1
      await sleep(PAUSE_MS.refresh)
    }
  })
