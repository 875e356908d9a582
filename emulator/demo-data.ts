import { diskRemedy } from '../cli/local/disk-errors.mjs'
import { migrateToLatest } from '../cli/workers/migrate-to-latest.ts'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { DEMO, type Inserted, seedMissingDays } from '../drizzle/seed/demo.ts'
import { restateDemo } from '../drizzle/seed/restate.ts'
import type { EmbeddedPostgres } from './postgres/embedded.ts'
import type { State } from './state.ts'
import type { DemoPage } from './workers/demo-page.ts'

/** Days to load before the service starts: the default window, and the days whose late citations fall into it. */
export const NEWEST_DAYS = 34

/** Days to load at once: the embedded Postgres runs one transaction at a time, and a person sees how far it is. */
const DAYS_AT_ONCE = 12

/** The demo data in an embedded Postgres. */
export type Demo = {
  readonly databaseUrl: string
  /** Whether there is data of an earlier start, which can be served at once. */
  readonly isLoaded: boolean
  /** Whether the next start continues with the data. */
  readonly isKept: boolean
  /** Loads the newest days through today (UTC), and returns how many of the older days are missing. */
  readonly loadNewest: (onDays?: (loaded: number, of: number) => void) => Promise<number>
  /** Loads the older days, while the service runs. */
  readonly loadOlder: () => Promise<void>
}

/** An embedded Postgres that starts, and the folder of its files; without one it is in memory. */
export type EmbeddedDemo = { readonly state: State | undefined; readonly postgres: Promise<EmbeddedPostgres> }

/** Waits until Postgres has started. Throws {@link UsageError} when it cannot use the data of the last start. */
export async function openDemo({ state, postgres }: EmbeddedDemo): Promise<Demo> {
  const explain = (error: unknown) => {
    if (!state?.isLoaded || diskRemedy(reasonOf(error))) throw error
    throw new UsageError(
      `Cannot use the data of the last start: ${reasonOf(error)}. Delete it and begin again: npm start -- --fresh`,
    )
  }
  const { url } = await postgres.catch(explain)
  const loadNewest: Demo['loadNewest'] = async (onDays = () => {}) => {
    await withClient(url, migrateToLatest)
    let loaded = 0
    for (;;) {
      onDays(loaded, NEWEST_DAYS)
      const { inserted, missing } = await load(url, { newest: NEWEST_DAYS, limit: DAYS_AT_ONCE })
      loaded += inserted
      if (inserted === DAYS_AT_ONCE) continue
      state?.markLoaded()
      return missing
    }
  }
  return {
    databaseUrl: url,
    isLoaded: state?.isLoaded === true,
    isKept: state !== undefined,
    loadNewest: (onDays) => loadNewest(onDays).catch(explain),
    loadOlder: async () => {
      while ((await load(url, { limit: DAYS_AT_ONCE })).missing > 0);
    },
  }
}

/** What the reference page has of the demo in a database, which may still load older days. */
export const demoPage = (url: string, isLoading: () => boolean): DemoPage => ({
  keys: DEMO.keys,
  restate: async () => {
    if (isLoading()) return ['The demo still loads older days. Try again when they are loaded.']
    const today = new Date().toISOString().slice(0, 10)
    return withClient(url, async (client) => {
      const sentences: string[] = []
      for await (const sentence of restateDemo(client, today)) sentences.push(sentence)
      return sentences
    })
  },
})

/** Loads days that are missing. */
const load = (url: string, days: Parameters<typeof seedMissingDays>[2]): Promise<Inserted> =>
  withClient(url, async (client) => {
    const loaded = await seedMissingDays(client, new Date().toISOString().slice(0, 10), days)
    await refreshAll(client)
    // The next start would otherwise repeat all writes from the log.
    await client.query('checkpoint')
    return loaded
  })
