import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { type Ask, connect } from './drive.ts'
import { FIRST_DAY } from './million.ts'

/** Milliseconds between two looks at an answer. */
const PACE_MS = 25

/** An answer as far as it promises something. */
type Answer = { readonly status: number; readonly settledThrough: string | undefined; readonly text: string }

/** What a change makes of answers: which ones are not true any more, and which one all come to. */
export type Change = {
  readonly isUntrue: (answer: Answer) => boolean
  readonly isNew: (answer: Answer) => boolean
}

/** Where a page is asked for, and for how long after a change. */
type Watch = Change & { readonly url: string; readonly ask: Ask; readonly forMs: number }

/** Asks again and again from now on; gives the milliseconds until the last request whose answer was not true. */
export async function untrueFor({ url, ask, forMs, isUntrue, isNew }: Watch): Promise<number> {
  const pool = connect(url, 1)
  const start = performance.now()
  let last = 0
  let hasCome = false
  try {
    for (let sent = start; sent - start < forMs; sent = performance.now()) {
      const { statusCode, headers, body } = await pool.request({
        path: ask.path,
        method: 'GET',
        headers: ask.headers(),
      })
      const settled = headers['x-data-settled-through']
      const answer = {
        status: statusCode,
        settledThrough: Array.isArray(settled) ? settled[0] : settled,
        text: await body.text(),
      }
      if (isUntrue(answer)) last = sent - start
      hasCome = isNew(answer)
      await delay(PACE_MS)
    }
  } finally {
    await pool.close()
  }
  if (!hasCome) throw new Error(`What was changed has not come to ${url} within ${forMs} ms`)
  return last
}

/** Revokes every key, or lets them live again. */
export async function revoke(client: ClientBase, revoked: boolean): Promise<void> {
  await client.query('update api_keys set revoked_at = case when $1 then now() end', [revoked])
}

const PLACE = { model: 'model', market: '00000000-0000-4000-8000-000000000001' }

/** Makes the model and the market of the answers that {@link cite} adds. */
export async function addPlace(client: ClientBase): Promise<void> {
  await client.query(`insert into models (id, provider) values ($1, 'Provider')`, [PLACE.model])
  await client.query(`insert into markets (id, name) values ($1, 'Market')`, [PLACE.market])
}

/** Adds an answer that cites a new URL to the first day of a brand, in one transaction; gives the URL. */
export async function cite(client: ClientBase, brandId: string): Promise<string> {
  const id = randomUUID()
  const url = `https://new.example/${id}`
  const at = `${FIRST_DAY}T12:00:00Z`
  await client.query('begin')
  await client.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     values ($1, (select min(id::text)::uuid from prompts where brand_id = $2), $3, $4, $5)`,
    [id, brandId, PLACE.model, PLACE.market, at],
  )
  await client.query(
    `insert into citations (answer_id, url, domain, owned, recorded_at) values ($1, $2, 'new.example', false, $3)`,
    [id, url, at],
  )
  await client.query('commit')
  return url
}
