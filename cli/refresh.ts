import { SingleBar } from 'cli-progress'
import { Command } from 'commander'
import type { Client } from 'pg'
import { analyzeLoaded } from '../drizzle/db/analyze.ts'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { enqueueAll, enqueueRollingWindow, refreshAll, UntrackedTablesError } from '../drizzle/db/refresh.ts'
import { relistAll } from '../drizzle/db/relist.ts'
import { run } from './run.ts'

const { all, relist } = new Command('refresh')
  .description('Recomputes the days in the refresh queue and the rolling window.')
  .option('--all', 'recompute every day')
  .option('--relist', 'list every day as changed, also those without rows (after a restored backup)')
  .parse()
  .opts<{ all?: boolean; relist?: boolean }>()

await run(() =>
  withDatabase(async (client) => {
    if (all) await enqueueAll(client)
    const rollingWindow = await enqueueRollingWindow(client).catch((error) => {
      if (!(error instanceof UntrackedTablesError)) throw error
      throw new UsageError(`${error.message}. See docs/existing-database.md.`)
    })
    await analyzeLoaded(client)
    if (relist) await relistWithBar(client)
    const processed = await refreshWithBar(client)
    console.log(
      processed === 0 ? 'Everything is up to date.' : `Up to date. Processed ${processed} queue entries.`,
    )
    if (rollingWindow === undefined || all) return
    const { days, watermark } = rollingWindow
    console.log(
      `Recomputed the most recent ${days} days. For changes through ${watermark}, run npm run refresh -- --all.`,
    )
  }),
)

/** Returns a progress bar, on a terminal. */
function createBar(): SingleBar | null {
  if (!process.stderr.isTTY) return null
  return new SingleBar({ format: '{bar} {value}/{total} · {eta_formatted} left' })
}

/** Lists every day as changed, with a progress bar in brands. */
async function relistWithBar(client: Client): Promise<void> {
  const bar = createBar()
  bar?.start(0, 0)
  const brands = await relistAll(client, (total) => {
    bar?.setTotal(total)
    bar?.increment()
  }).finally(() => bar?.stop())
  console.log(`Listed every day of ${brands === 1 ? '1 brand' : `${brands} brands`} as changed.`)
}

/** Refreshes until the queue is empty, with a progress bar on a terminal. Returns the number of processed entries. */
async function refreshWithBar(client: Client): Promise<number> {
  const bar = createBar()
  let processed = 0
  bar?.start(await queueLength(client), 0)
  try {
    await refreshAll(client, async (entries) => {
      processed += entries
      // An entry without a date expands to many, so the total grows.
      bar?.setTotal(processed + (await queueLength(client)))
      bar?.update(processed)
    })
  } finally {
    bar?.stop()
  }
  return processed
}

async function queueLength(client: Client): Promise<number> {
  const { rows } = await client.query<{ entries: number }>(
    'select count(*)::int as entries from daily.refresh_queue',
  )
  return rows[0]?.entries ?? 0
}
