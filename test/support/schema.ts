import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'

/** Whether the raw tables are another application's, under its own names: with `SCHEMA=mapped`. */
export const MAPPED = process.env.SCHEMA === 'mapped'

const TABLES: Readonly<Record<string, string>> = {
  organizations: 'app.companies',
  users: 'app.people',
  memberships: 'app.seats',
  subscriptions: 'app.billing',
  brands: 'app.tracked_brands',
  competitors: 'app.rivals',
  markets: 'app.regions',
  models: 'app.engines',
  prompts: 'app.questions',
  answers: 'app.llm_runs',
  answer_mentions: 'app.named',
  citations: 'app.links',
  sentiment_phrases: 'app.feelings',
  recommendations: 'app.verdicts',
}

/** The table that holds what the project calls `name`, for what cannot be done through a view, as truncating it. */
export const tableOf = (name: string): string => (MAPPED ? (TABLES[name] ?? name) : name)

/** Brings an empty database to the current schema; with `SCHEMA=mapped` next to another application, and mapped to it. */
export async function prepare(client: pg.Client): Promise<void> {
  if (!MAPPED) return migrateToLatest(client)
  await prepareMapped(client)
  await installTriggers(client)
  // The triggers begin with a note of everything; tests begin with none.
  await refreshAll(client)
}

/** Puts triggers on the tables of the other application. */
export const installTriggers = (client: pg.Client | pg.Pool): Promise<void> =>
  applyFile(client, '../../../docs/examples/triggers')

/** Brings an empty database to the current schema next to another application that is mapped to it, without triggers. */
export async function prepareMapped(client: pg.Client): Promise<void> {
  await applyFile(client, 'application')
  await migrateToLatest(client, 'export_api')
  await applyFile(client, '../../../docs/examples/mapping')
  await applyFile(client, 'names')
}

/** Runs a file of SQL, by its path from test/support/mapped, in one transaction. */
async function applyFile(client: pg.Client | pg.Pool, path: string): Promise<void> {
  await client.query(await readFile(new URL(`mapped/${path}.sql`, import.meta.url), 'utf8'))
}
