import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { startEmulator } from '../../../emulator/emulator.ts'
import { createDatabase } from '../database.ts'
import { median } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { fill, LAST_DAY } from '../volume.ts'

const BRANDS = 41
/** Milliseconds to Neon and back. */
const LATENCY_MS = 20
/** Milliseconds between two changes whose arrival is timed. */
const PROBE_MS = 13_000
/** Answers a second, one step after the other. */
const RATES = [50, 100, 200, 400, 800, 1600]
const MINUTES = { first: 5, next: 2 }
const GOAL_S = 60

/** How long a change takes to be served, under steady writing. */
export const section: Section = async ({ serverUrl, sized, report }) => {
  await using database = await createDatabase(serverUrl)
  const { client, url } = database
  report(`${BRANDS} brands of 60 days`)
  const { organizationId } = await addTenant(client)
  const brands = await addBrands(client, organizationId, BRANDS)
  for (const brandId of brands) await fill(client, { brandId, answers: 600, days: 60, citations: [2, 3] })
  await client.query('analyze')
  await refreshAll(client)
  await client.query('vacuum analyze')
  const service = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: url,
    latencyMs: LATENCY_MS,
    onLog: (line) => console.error(line),
  })
  const db = new pg.Pool({ connectionString: url, max: 12 })
  const rows = []
  try {
    for (const [n, rate] of RATES.entries()) {
      const minutes = sized(n === 0 ? MINUTES.first : MINUTES.next)
      report(`${rate} answers a second for ${figure(minutes)} minutes`)
      const end = Date.now() + minutes * 60_000
      const writing = writeAnswers(db, brands, rate, end)
      const late: Promise<number>[] = []
      const renamed: Promise<number>[] = []
      while (Date.now() < end) {
        late.push(servedLate(db, brands[39] ?? ''))
        renamed.push(servedRename(db, brands[40] ?? ''))
        await sleep(PROBE_MS)
      }
      const times = [await Promise.all(late), await Promise.all(renamed)]
      const written = Math.round((await writing) / minutes / 60)
      rows.push([written, ...times.flatMap((each) => [median(each), Math.max(...each)]).map(Math.round)])
      if (times.some((each) => median(each) > GOAL_S)) break
    }
  } finally {
    await db.end()
    await service.close()
  }
  return [
    {
      title: `Seconds until a change is served, while answers are written to ${BRANDS} brands`,
      columns: ['answers a second', 'late citation, median', 'longest', 'renamed brand, median', 'longest'],
      rows,
      note: `Goal: medians of ${GOAL_S} at ${RATES[0]}. Steps of ${figure(sized(MINUTES.first))} and ${figure(sized(MINUTES.next))} minutes, until a median is longer. The citation is of last month, the brand has 60 days. The database is ${LATENCY_MS} ms away, and the scheduled Worker runs every minute, with two lanes.`,
    },
  ]
}

/** Writes answers at a steady rate, with one statement per table, until `end`. Returns their number. */
async function writeAnswers(
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
async function servedLate(db: pg.Pool, brandId: string): Promise<number> {
  const url = `https://late.example/${Date.now()}`
  await db.query(
    `insert into citations (answer_id, url, owned, recorded_at)
     select answers.id, $2, false, answered_at from answers join prompts on prompts.id = prompt_id
     where brand_id = $1 and (answered_at at time zone 'UTC')::date = $3::date - 30 limit 1`,
    [brandId, url, LAST_DAY],
  )
  return secondsUntil(db, 'select from daily.citation_share where brand_id = $1 and url = $2', [brandId, url])
}

/** Renames a brand and returns the seconds until all its days have the new name. */
async function servedRename(db: pg.Pool, brandId: string): Promise<number> {
  const name = `Renamed ${Date.now()}`
  await db.query('update brands set name = $2 where id = $1', [brandId, name])
  return secondsUntil(
    db,
    `select from daily.recommended_rate where brand_id = $1 and is_brand having bool_and(entity_name >= $2)`,
    [brandId, name],
  )
}

/** Returns the seconds until a query returns a row. */
async function secondsUntil(db: pg.Pool, query: string, params: unknown[]): Promise<number> {
  const start = Date.now()
  while ((await db.query(query, params)).rowCount === 0) await sleep(500)
  return (Date.now() - start) / 1000
}
