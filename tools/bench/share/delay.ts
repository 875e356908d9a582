import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { scheduleCrons } from '../../../emulator/workers/crons.ts'
import { inDatabase } from '../database.ts'
import { figure, type Setting, type Table } from '../section.ts'
import { addSteadyBrands, BRANDS, LATENCY_MS, PROBE_MS, servedLate, writeAnswers } from '../steady-load.ts'
import { median, timed } from '../timing.ts'
import { publishAll, type Run, withServiceAway } from './service-away.ts'

const RATE = 50
const MINUTES = 5

/** Seconds between two runs of wrangler.toml. */
const INTERVAL_S = 300

const GOAL_S = 330

/** How long a change takes to be in a file, under steady writing. */
export const measureDelay = ({ serverUrl, sized, report }: Setting): Promise<Table> =>
  inDatabase(serverUrl, async (client, url) => {
    const brands = await addSteadyBrands(client, report)
    const db = new pg.Pool({ connectionString: url, max: 12 })
    let stop = () => {}
    return withServiceAway(url, async ({ emulator, publish }) => {
      report('the first publish')
      const seconds = (await timed(() => publishAll(publish))) / 1000
      const { rows } = await db.query<{ objects: number }>('select count(*)::int as objects from daily.files')
      const runs: Run[] = []
      const minutes = Math.max(2, sized(MINUTES))
      report(`${RATE} answers a second for ${figure(minutes)} minutes`)
      stop = scheduleCrons(
        ['refresh', 'publish'].map((worker) => ({ worker, pattern: '* * * * *' })),
        async (worker) => {
          if (worker === 'publish') runs.push(await publish())
          else await emulator.runCron(worker)
        },
      )
      const end = Date.now() + minutes * 60_000
      const writing = writeAnswers(db, brands, RATE, end)
      const serving: Promise<number>[] = []
      while (Date.now() < end) {
        serving.push(servedLate(db, brands[39] ?? ''))
        await sleep(PROBE_MS)
      }
      const served = await Promise.all(serving)
      const written = Math.round((await writing) / minutes / 60)
      stop()
      const row = (name: string, of: (numbers: readonly number[]) => number) => {
        const run = of(runs.map((each) => each.seconds))
        return [name, of(served), INTERVAL_S, run, INTERVAL_S + run, of(served) + INTERVAL_S + run]
      }
      return {
        title: `Seconds until a change is in a file, while ${written} answers a second are written to ${BRANDS} brands`,
        columns: ['', 'until pages serve it', 'until the next run', 'the run', 'after the pages', 'sum'],
        rows: [row('median', median), row('longest', (numbers) => Math.max(...numbers))],
        note: `The sums are for a change that just misses a run. Goal of the sum: at most ${GOAL_S}. Neon is ${LATENCY_MS} ms away, and the refresh runs every minute. So does the publisher here, ${runs.length} times: today's days of all brands change in a minute, as they do in five. A run wrote ${figure(median(runs.map((each) => each.objects)))} objects. R2 has no distance here: six objects are written at a time. The first publish wrote ${figure((rows[0]?.objects ?? 0) / seconds)} objects of a few rows a second.`,
      }
    }).finally(async () => {
      stop()
      await db.end()
    })
  })
