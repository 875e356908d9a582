import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { withClient } from '../../drizzle/db/connect.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { BASE } from '../../lib/app.ts'
import { addKey } from '../bench/tenant.ts'
import { LAST_DAY } from '../bench/volume.ts'
import { logFailure, type Results, randomItem } from './clients.ts'
import { type BrandKey, DAYS } from './data.ts'

export type Changes = {
  readonly url: string
  readonly databaseUrl: string
  readonly keys: readonly BrandKey[]
  readonly results: Results
  readonly counts: { edits: number; revocations: number; refreshes: number }
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
  `update sentiment_phrases set polarity = (array['positive', 'neutral', 'negative'])[1 + $3::int % 3]
   where answer_id = (
     select answers.id from answers join prompts on prompts.id = prompt_id
     where brand_id = $1 and answered_at::date = $2::date limit 1)`,
  `update prompts set retired_at = case when retired_at is null then $2::date end
   where id = (select id from prompts where brand_id = $1 order by id offset $3::int % 40 limit 1)`,
  `update brands set aliases = array['Acme Inc', 'Alias ' || $3::int] where id = $1 and $2::date is not null and $3::int % 20 = 0`,
]

/** Changes rows of random brands and days. */
export const edit = ({ keys, databaseUrl, counts, isOver }: Changes): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (; !isOver(); counts.edits += 1) {
      const day = new Date(Date.parse(LAST_DAY) - Math.floor(Math.random() * DAYS) * 86_400_000)
      const statement = EDITS[counts.edits % EDITS.length] ?? ''
      await client.query(statement, [randomItem(keys).brandId, day.toISOString().slice(0, 10), counts.edits])
      await sleep(PAUSE_MS.edit)
    }
  })

/** Creates a key, reads with it, revokes it, and reads again: the second response must be 401. */
export const revoke = ({ url, keys, databaseUrl, results, counts, isOver }: Changes): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (; !isOver(); counts.revocations += 1) {
      const { id, key } = await addKey(client, randomItem(keys).organizationId)
      const status = async () => {
        const headers = { 'X-API-Key': key, 'User-Agent': randomUUID() }
        const { statusCode, body } = await request(`${url}${BASE}/brands`, { headers })
        await body.dump()
        return statusCode
      }
      const active = await status()
      if (active !== 200) logFailure(results, `a new key: ${active}`)
      await client.query('update api_keys set revoked_at = now() where id = $1', [id])
      const revoked = await status()
      if (revoked !== 401) logFailure(results, `a revoked key: ${revoked}`)
      await sleep(PAUSE_MS.revocation)
    }
  })

/** Refreshes the daily rows, concurrently with the service's own refresh. */
export const refresh = ({ databaseUrl, counts, isOver }: Changes): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (; !isOver(); counts.refreshes += 1) {
      await refreshAll(client)
      await sleep(PAUSE_MS.refresh)
    }
  })
