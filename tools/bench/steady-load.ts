import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { addTenant } from './tenant.ts'
import { addBrands, LAST_DAY } from './volume.ts'

/** Milliseconds to Neon and back. */
export const LATENCY_MS = 20

export const BRANDS = 41

/** Milliseconds between two changes whose arrival is timed. */
export const PROBE_MS = 13_000

/** Adds the brands to which answers are written, and returns their ids. */
export async function addSteadyBrands(client: pg.Client, report: (line: string) => void): Promise<string[]> {
  report(`${BRANDS} brands of 60 days`)
  const { organizationId } = await addTenant(client)
  const brands = await addBrands(client, { organizationId, count: BRANDS, answers: 600, days: 60 })
  await client.query('analyze')
  await refreshAll(client)
  await client.query('vacuum analyze')
  return brands
}

/** Writes answers at a steady rate, with one statement per table, until `end`. Returns their number. */
export async function writeAnswers(
  db: pg.Pool,
  brands: readonly string[],
  rate: number,
  end: number,
): Promise<number> {
  const start = Date.now()
  const writing: Promise<void>[] = []
  let written = 0
  while (Date.now() < end) {
    const due = ((Date.now() - start) / 1000) * rate
    // What the pool cannot carry is not piled up, and the printed rate shows it.
    for (; written < due && db.waitingCount < 20; written += 1) {
      writing.push(writeAnswer(db, brands[written % brands.length] ?? ''))
    }
    await sleep(10)
  }
  await Promise.all(writing)
  return written
}

async function writeAnswer(db: pg.Pool, brandId: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `insert into answers (prompt_id, model_id, market_id, answered_at)
     select (array_agg(id))[1 + floor(random() * count(*))], 'model-0', md5('market0')::uuid, now()
     from prompts where brand_id = $1 returning id`,
    [brandId],
  )
  const [answer] = rows
  for (const statement of [
    `insert into answer_mentions (answer_id, name) values ($1, 'Acme')`,
    `insert into citations (answer_id, url, owned, recorded_at)
     select $1, 'https://site.example/' || floor(random() * 1000), false, now() from generate_series(1, 3)`,
    `insert into sentiment_phrases (answer_id, polarity, confidence) values ($1, 'positive', 0.5)`,
    'insert into recommendations (answer_id, recommended) values ($1, true)',
  ]) {
    await db.query(statement, [answer?.id])
  }
}

/** Adds a citation of a month ago and returns the seconds until it is served. */
export async function servedLate(db: pg.Pool, brandId: string): Promise<number> {
  const url = `https://late.example/${Date.now()}`
  await db.query(
    `insert into citations (answer_id, url, owned, recorded_at)
     select answers.id, $2, false, answered_at from answers join prompts on prompts.id = prompt_id
     where brand_id = $1 and (answered_at at time zone 'UTC')::date = $3::date - 30 limit 1`,
    [brandId, url, LAST_DAY],
  )
  return secondsUntil(db, 'select from daily.citation_share where brand_id = $1 and url = $2', [brandId, url])
}

/** Returns the seconds until a query returns a row. */
export async function secondsUntil(db: pg.Pool, query: string, params: unknown[]): Promise<number> {
  const start = Date.now()
  while ((await db.query(query, params)).rowCount === 0) await sleep(500)
  return (Date.now() - start) / 1000
}
