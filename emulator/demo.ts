import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { seedMissingDays } from '../drizzle/seed/demo.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { type State, takeState } from './state.ts'

/** Days to load before the service starts: the default window, and the days whose late citations fall into it. */
const FIRST_DAYS = 34

/** Days to load at once while clients read: the embedded Postgres runs one transaction at a time. */
const DAYS_AT_ONCE = 10

/** The demo data. */
export type Demo = {
  readonly databaseUrl: string
  /** How many of the older days are still to be loaded. */
  readonly missing: number
  /** Loads them while the service runs. */
  readonly loadMissing: () => Promise<void>
  /** Whether the next start continues with the data. */
  readonly kept: boolean
}

/**
 * Starts an embedded Postgres with the newest days of the demo data through today (UTC). It continues with the data of
 * the last start unless `fresh`. Throws {@link UsageError} when these cannot be used.
 */
export async function startDemo(options: { readonly fresh: boolean }): Promise<Demo> {
  const state = takeState(options)
  const { databaseUrl, missing } = await open(state).catch((error) => {
    if (state === undefined) throw error
    throw new UsageError(
      `Cannot use the data of the last start: ${reasonOf(error)}. Delete it and begin again: npm start -- --fresh`,
    )
  })
  state?.markLoaded()
  const loadMissing = async () => {
    for (let days = missing; days > 0; ) days = await load(databaseUrl, { limit: DAYS_AT_ONCE })
  }
  return { databaseUrl, missing, loadMissing, kept: state !== undefined }
}

async function open(state: State | undefined): Promise<Pick<Demo, 'databaseUrl' | 'missing'>> {
  const { url } = await startEmbeddedPostgres(state?.postgres)
  await withClient(url, migrateToLatest)
  return { databaseUrl: url, missing: await load(url, { newest: FIRST_DAYS, limit: FIRST_DAYS }) }
}

/** Loads days that are missing, and returns how many still are. */
const load = (url: string, days: Parameters<typeof seedMissingDays>[2]): Promise<number> =>
  withClient(url, async (client) => {
    const missing = await seedMissingDays(client, new Date().toISOString().slice(0, 10), days)
    await refreshAll(client)
    // The next start would otherwise repeat all writes from the log.
    await client.query('checkpoint')
    return missing
  })
