import type { Client } from 'pg'
import { analyzeAll } from '../db/analyze.ts'
import { insertAnswers } from './answers.ts'
import { haldenpeak } from './brands/haldenpeak.ts'
import { BRANDS, insertBrands } from './brands.ts'
import { demoDays } from './calendar.ts'
import { insertCatalogue } from './catalogue.ts'
import { insertCitations } from './citations.ts'
import { clearDemo } from './clear.ts'
import { demoId } from './ids.ts'
import { insertKeys, KEYS } from './keys.ts'
import { insertMentions } from './mentions.ts'
import { insertOrganizations, ORGANIZATIONS } from './organizations.ts'
import { insertRecommendations } from './recommendations.ts'
import { insertSentiment } from './sentiment.ts'

interface DemoKey {
  readonly label: string
  readonly key: string
  /** What a request with it shows. */
  readonly note: string
}

/** What to try the demo with: keys in plain text, the brand of a first request, and who owns what. */
export const DEMO = {
  keys: KEYS.map(({ label, key, note }): DemoKey => ({ label, key, note })),
  /** Readable by the enterprise key and the brand-limited one. */
  brandId: demoId('brand', haldenpeak.slug),
  organizations: ORGANIZATIONS,
  brands: BRANDS.map(({ id, name, organization, active }) => ({ id, name, organization, active })),
}

/**
 * Fills the database of `client` with the demo of the 120 days up to and including `today` (YYYY-MM-DD, UTC),
 * in one transaction; a demo that is there already is replaced, and nothing else is touched.
 *
 * Each row follows from its own date: seeding on another day moves the window and changes no row inside it.
 */
export async function seedDemo(client: Client, today: string): Promise<void> {
  const days = demoDays(today)
  await client.query('begin')
  try {
    await client.query("set local work_mem = '64MB'")
    // It would sort the runs by brand; by time, as they come, their rows go into the indexes almost twice as fast.
    await client.query('set local enable_mergejoin = off')
    await clearDemo(client)
    await insertCatalogue(client)
    await insertOrganizations(client)
    await insertBrands(client)
    await insertKeys(client)
    await insertAnswers(client, days)
    await insertMentions(client)
    await insertCitations(client, today)
    await insertSentiment(client)
    await insertRecommendations(client)
    // The planner would otherwise take the tables for empty until autovacuum has come round, which PGlite lacks.
    await analyzeAll(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
