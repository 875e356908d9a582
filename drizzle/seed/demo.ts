import type { Client } from 'pg'
import { analyzeAll } from '../db/analyze.ts'
import { insertAnswers } from './answers.ts'
import { haldenpeak } from './brands/haldenpeak.ts'
import { BRANDS, insertBrands } from './brands.ts'
import { insertCitations } from './citations.ts'
import { clearDemo } from './clear.ts'
import { demoDays } from './days.ts'
import { demoId } from './ids.ts'
import { insertKeys, KEYS } from './keys.ts'
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
  /** Readable by the enterprise key and the brand-limited one. */
  brandId: demoId('brand', haldenpeak.slug),
  organizations: ORGANIZATIONS,
  brands: BRANDS.map(({ id, name, organization, active }) => ({ id, name, organization, active })),
}

/**
 * Inserts the demo data of the 120 days through `today` (YYYY-MM-DD, UTC) in one transaction. Replaces earlier demo
 * data and changes no other rows.
 *
 * Each row depends on its own date only: seeding on another day moves the window and changes no row inside it.
 */
export async function seedDemo(client: Client, today: string): Promise<void> {
  const days = demoDays(today)
  await client.query('begin')
  try {
    await client.query("set local work_mem = '64MB'")
    // A merge join would sort the runs by brand. In order of time, index inserts are almost twice as fast.
    await client.query('set local enable_mergejoin = off')
    await clearDemo(client)
    await insertModelsAndMarkets(client)
    await insertOrganizations(client)
    await insertBrands(client)
    await insertKeys(client)
    await insertAnswers(client, days)
    await insertMentions(client)
    await insertCitations(client, today)
    await insertSentiment(client)
    await insertRecommendations(client)
    // The planner would otherwise assume empty tables until autovacuum runs, and PGlite has none.
    await analyzeAll(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
