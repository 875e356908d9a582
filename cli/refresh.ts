import { SingleBar } from 'cli-progress'
import { Command } from 'commander'
import type { Client } from 'pg'
import { analyzeLoaded } from '../drizzle/db/analyze.ts'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { enqueueAll, enqueueRollingWindow, refreshAll, UntrackedTablesError } from '../drizzle/db/refresh.ts'
import { run } from './run.ts'

const { all } = new Command('refresh')
  .description('Brings the daily tables up to date with the raw ones.')
  .option('--all', 'compute every day anew, not only those that changed or are among the last')
  .parse()
  .opts<{ all?: boolean }>()

await run(() =>
  withDatabase(async (client) => {
    if (all) await enqueueAll(client)
    const rollingWindow = await enqueueRollingWindow(client).catch((error) => {
      if (!(error instanceof UntrackedTablesError)) throw error
      throw new UsageError(`${error.message}: see "On a database that exists already" in the README.`)
    })
    await analyzeLoaded(client)
    const settled = await refreshWithBar(client)
    console.log(settled === 0 ? 'Everything is up to date.' : `Up to date: ${settled} changes computed.`)
    if (rollingWindow === undefined || all) return
    const { days, watermark } = rollingWindow
    console.log(
      `The last ${days} days were computed anew. What changes before them, through ${watermark}, is seen by npm run refresh -- --all alone.`,
    )
  }),
)

/** Refreshes to the end, with a progress bar on a terminal; gives the number of notes settled. */
async function refreshWithBar(client: Client): Promise<number> {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {value}/{total} · {eta_formatted} left' })
    : null
  let settled = 0
  bar?.start(await waiting(client), 0)
  try {
    await refreshAll(client, async (some) => {
      settled += some
      // A wide note becomes many: what is left is counted anew each time.
      bar?.setTotal(settled + (await waiting(client)))
      bar?.update(settled)
    })
  } finally {
    bar?.stop()
  }
  return settled
}

async function waiting(client: Client): Promise<number> {
  const { rows } = await client.query<{ notes: number }>(
    'select count(*)::int as notes from daily.refresh_queue',
  )
  return rows[0]?.notes ?? 0
}
