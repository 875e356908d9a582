import type { Client } from 'pg'
import { analyzeLoaded } from '../drizzle/db/analyze.ts'
import { UsageError, withClient, withDatabase } from '../drizzle/db/connect.ts'
import { logAll, refreshAll, UntrackedTablesError } from '../drizzle/db/refresh.ts'
import { relistAll } from '../drizzle/db/relist.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { whole } from './options.ts'
import { createBar } from './progress-bar.ts'
import { run } from './run.ts'

const BAR = '{bar} {value}/{total} · {eta_formatted} left'

const { all, relist, lanes } = createCommand('refresh', {
  description: 'Recomputes the days that changed, or the days of the rolling window.',
  variables: DATABASE_URL,
})
  .option('--all', 'recompute every day')
  .option('--relist', 'list every day as changed, also those without rows (after a restored backup)')
  .option('--lanes <number>', 'brands to compute side by side', whole, 2)
  .parse()
  .opts<{ all?: boolean; relist?: boolean; lanes: number }>()

await run(() =>
  withDatabase(async (client) => {
    if (all) await logAll(client)
    await analyzeLoaded(client)
    if (relist) await relistWithBar(client)
    const processed = await withLanes([client], refreshWithBar)
    console.log(processed === 0 ? 'Everything is up to date.' : `Up to date. Recomputed ${processed} days.`)
    const { rows } = await client.query<{ days: number; before: string }>(
      'select days, (first_day - 1)::text as before from daily.rolling_window',
    )
    const [window] = rows
    if (window === undefined || all) return
    console.log(
      `Recomputed the most recent ${window.days} days. For changes through ${window.before}, run npm run refresh -- --all.`,
    )
  }),
)

/** Lists every day as changed, with a progress bar in brands. */
async function relistWithBar(client: Client): Promise<void> {
  const bar = createBar(BAR)
  bar?.start(0, 0)
  const brands = await relistAll(client, (total) => {
    bar?.setTotal(total)
    bar?.increment()
  }).finally(() => bar?.stop())
  console.log(`Listed every day of ${brands === 1 ? '1 brand' : `${brands} brands`} as changed.`)
}

/** Runs work on a connection for each lane. */
async function withLanes<Result>(
  clients: readonly Client[],
  work: (clients: readonly Client[]) => Promise<Result>,
): Promise<Result> {
  if (clients.length >= lanes) return work(clients)
  return withClient(process.env.DATABASE_URL ?? '', (client) => withLanes([...clients, client], work))
}

/** Refreshes until no day can be computed, with a progress bar on a terminal. Returns the number of computed days. */
async function refreshWithBar(clients: readonly Client[]): Promise<number> {
  const bar = createBar(BAR)
  let processed = 0
  const onStep = async (days: number): Promise<void> => {
    processed += days
    if (bar === null) return
    bar.setTotal(processed + (await queueLength(clients)))
    bar.update(processed)
  }
  bar?.start(0, 0)
  try {
    const { untracked } = await refreshAll(clients, { onStep })
    if (untracked !== null) {
      console.error(`The refresh can miss changes of ${untracked}. See docs/existing-database.md.`)
    }
  } catch (error) {
    if (!(error instanceof UntrackedTablesError)) throw error
    throw new UsageError(`${error.message}. See docs/existing-database.md.`)
  } finally {
    bar?.stop()
  }
  return processed
}

async function queueLength([client]: readonly Client[]): Promise<number> {
  const found = await client?.query<{ days: number }>('select count(*)::int as days from daily.refresh_queue')
  return found?.rows[0]?.days ?? 0
}
