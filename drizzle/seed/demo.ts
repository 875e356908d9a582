import type { Client } from 'pg'
import { analyzeAll } from '../db/analyze.ts'
import { createRuns, insertAnswers } from './answers.ts'
import { haldenpeak } from './brands/haldenpeak.ts'
import { BRANDS, insertBrands } from './brands.ts'
import { insertCitations, LATEST_DAYS, type Recorded } from './citations.ts'
import { clearDemo } from './clear.ts'
import { type DemoDay, demoDays } from './days.ts'
import { demoId } from './ids.ts'
import { ENTERPRISE_KEY, insertKeys, KEYS } from './keys.ts'
import { insertMentions } from './mentions.ts'
import { insertModelsAndMarkets } from './models-and-markets.ts'
import { insertOrganizations, ORGANIZATIONS } from './organizations.ts'
import { insertRecommendations } from './recommendations.ts'
import { insertSentiment } from './sentiment.ts'

interface DemoKey {
  readonly label: string
  readonly key: string
  /** What requests with the key return. */
  readonly note: string
}

/** Keys in plain text, a brand for a first request, and the organizations and brands of the demo. */
export const DEMO = {
  keys: KEYS.map(({ label, key, note }): DemoKey => ({ label, key, note })),
  /** The first of the keys, which reads the most. */
  key: ENTERPRISE_KEY,
  /** Readable by the enterprise key and the brand-limited one. */
  brandId: demoId('brand', haldenpeak.slug),
  organizations: ORGANIZATIONS,
  brands: BRANDS.map(({ id, name, organization, active }) => ({ id, name, organization, active })),
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
    await createRuns(client, demoDays(today))
    await insertAnswers(client)
    await insertCitations(client, { last: today })
    await insertJudgements(client)
  })
}

/** Which days of the demo to insert: of the `newest` days (default: all 120) at most `limit`. */
type Missing = { readonly newest?: number; readonly limit: number }

/** How many days were inserted, and how many of all days are still missing. */
export type Inserted = { readonly inserted: number; readonly missing: number }

/**
 * Inserts the newest adjacent days through `today` that the database does not have of the demo, in one transaction.
 * Changes no row of other days.
 */
export async function seedMissingDays(
  client: Client,
  today: string,
  { newest = 0, limit }: Missing,
): Promise<Inserted> {
  await client.query('create schema if not exists demo')
  await client.query('create table if not exists demo.seeded (day date primary key)')
  const { rows } = await client.query<{ day: string }>('select day::text from demo.seeded')
  const seeded = new Set(rows.map(({ day }) => day))
  const isSeeded = ({ day }: DemoDay) => seeded.has(day)
  const all = demoDays(today)
  const wanted = all.slice(-newest)
  // Adjacent days: late citations of the days before them are then recorded on or after the first.
  const end = wanted.findLastIndex((day) => !isSeeded(day)) + 1
  const start = wanted.findLastIndex((day, index) => index < end && isSeeded(day)) + 1
  const days = wanted.slice(Math.max(start, end - limit), end)
  const [first] = days
  if (first !== undefined) {
    await inTransaction(client, async () => {
      // Foreign key checks take as long as the inserts, and the seed's rows are consistent.
      await client.query('set local session_replication_role = replica')
      if (seeded.size === 0) await insertCustomers(client)
      const before = demoDays(first.day).slice(-LATEST_DAYS - 1, -1)
      await insertLateCitations(client, before.filter(isSeeded), { first: first.day, last: today })
      await createRuns(client, days)
      await insertAnswers(client)
      await insertCitations(client, { last: today })
      await insertJudgements(client)
      await client.query('insert into demo.seeded select unnest($1::date[])', [days.map(({ day }) => day)])
    })
  }
  return { inserted: days.length, missing: all.filter((day) => !isSeeded(day)).length - days.length }
}

/** Inserts the citations of answers of earlier days that are recorded in a period. */
async function insertLateCitations(
  client: Client,
  days: readonly DemoDay[],
  recorded: Recorded,
): Promise<void> {
  await createRuns(client, days)
  // A user may have deleted answers.
  await client.query('delete from demo_run where id not in (select id from answers)')
  await insertCitations(client, recorded)
  await client.query('drop table demo_run, demo_page')
}

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

/** Inserts what the answers refer to: customers with their keys and brands, and models and markets. */
async function insertCustomers(client: Client): Promise<void> {
  await insertModelsAndMarkets(client)
  await insertOrganizations(client)
  await insertBrands(client)
  await insertKeys(client)
}

/** Inserts what is found in the answers of the runs: names, phrases and recommendations. */
async function insertJudgements(client: Client): Promise<void> {
  await insertMentions(client)
  await insertSentiment(client)
  await insertRecommendations(client)
}
