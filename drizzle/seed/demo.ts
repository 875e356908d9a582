import type { Client } from 'pg'
import { analyzeAll } from '../db/analyze.ts'
import { insertAnswers } from './answers.ts'
import { insertCitations, LATEST_DAYS } from './citations.ts'
import { clearDemo, insertCustomers } from './customers.ts'
import { FIRST_BRAND, KEYS } from './organizations.ts'
import { createRuns } from './runs.ts'

const DAY = 86_400_000
const HISTORY_DAYS = 120

/** Keys in plain text with what requests with them return, and a brand for a first request. */
export const DEMO = {
  keys: KEYS.map(({ label, key, note }) => ({ label, key, note })),
  /** The first of the keys, which reads the most. */
  key: KEYS[0]?.key ?? '',
  /** Readable by the enterprise key and the brand-limited one. */
  brandId: FIRST_BRAND,
}

/**
 * Inserts the demo data of the 120 days through `today` (YYYY-MM-DD, UTC) in one transaction. Replaces earlier demo
 * data and changes no other rows. Each row depends on its own date only: seeding on another day moves the window and
 * changes no row inside it.
 */
export async function seedDemo(client: Client, today: string): Promise<void> {
  await inTransaction(client, async () => {
    await clearDemo(client)
    await insertCustomers(client)
    await insertDays(client, { days: daysThrough(today, HISTORY_DAYS), earlier: [], today })
  })
}

/** Which days of the demo to insert: of the `newest` days (default: all 120) at most `limit`. */
type Missing = { readonly newest?: number; readonly limit: number }

/** How many days were inserted, and how many of all days are still missing. */
export type Inserted = { readonly inserted: number; readonly missing: number }

/**
 * Inserts the newest adjacent days through `today` that the database does not have of the demo, in one transaction.
 * Changes no row of other days, except for late citations.
 */
export async function seedMissingDays(
  client: Client,
  today: string,
  { newest = HISTORY_DAYS, limit }: Missing,
): Promise<Inserted> {
  await client.query('create schema if not exists demo')
  await client.query('create table if not exists demo.seeded (day date primary key)')
  const { rows } = await client.query<{ day: string }>('select day::text from demo.seeded')
  const seeded = new Set(rows.map(({ day }) => day))
  const isMissing = (day: string) => !seeded.has(day)
  const wanted = daysThrough(today, newest)
  // Adjacent days: late citations of the days before them are then recorded on or after the first.
  const end = wanted.findLastIndex(isMissing) + 1
  const start = wanted.findLastIndex((day, index) => index < end && !isMissing(day)) + 1
  const days = wanted.slice(Math.max(start, end - limit), end)
  const [first] = days
  if (first !== undefined) {
    await inTransaction(client, async () => {
      // Foreign key checks take as long as the inserts, and the seed's rows are consistent.
      await client.query('set local session_replication_role = replica')
      if (seeded.size === 0) await insertCustomers(client)
      const earlier = daysThrough(first, LATEST_DAYS + 1).filter((day) => seeded.has(day))
      await insertDays(client, { days, earlier, today })
      await client.query('insert into demo.seeded select unnest($1::date[])', [days])
    })
  }
  return {
    inserted: days.length,
    missing: daysThrough(today, HISTORY_DAYS).filter(isMissing).length - days.length,
  }
}

type Days = { readonly days: readonly string[]; readonly earlier: readonly string[]; readonly today: string }

/** Inserts the rows of adjacent days, and those of earlier days' late citations that are recorded since. */
async function insertDays(client: Client, { days, earlier, today }: Days): Promise<void> {
  const [first = today] = days
  await createRuns(client, [...earlier, ...days])
  await insertAnswers(client, first)
  await insertCitations(client, { first, last: today })
}

/** Returns the days through `last`, oldest first. */
const daysThrough = (last: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(last) - (count - 1 - index) * DAY).toISOString().slice(0, 10),
  )

/** Runs work in a transaction with the settings of the seed. */
async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin')
  try {
    await client.query("set local work_mem = '64MB'")
    // A merge join would sort the runs by brand. In order of time, index inserts are almost twice as fast.
    await client.query('set local enable_mergejoin = off')
    await work()
    // The planner would otherwise assume empty tables until autovacuum runs, and PGlite has none.
    await analyzeAll(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
