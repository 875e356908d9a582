import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmulator } from '../../../emulator/start.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import {
  addSteadyBrands,
  BRANDS,
  LATENCY_MS,
  PROBE_MS,
  secondsUntil,
  servedLate,
  writeAnswers,
} from '../steady-load.ts'
import { median } from '../timing.ts'

/** Answers a second, one step after the other. */
const RATES = [50, 100, 200, 400, 800, 1600]
const MINUTES = { first: 5, next: 2 }

const GOAL_S = 60

/** How long a change takes to be served, under steady writing. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client, url) => {
    const brands = await addSteadyBrands(client, report)

    const service = await startEmulator({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: url,
      latencyMs: LATENCY_MS,
      onLog: (line) => console.error(line),
    })
    try {
      const db = new pg.Pool({ connectionString: url, max: 12 })
      const rows = []
      for (const [n, rate] of RATES.entries()) {
        const minutes = sized(n === 0 ? MINUTES.first : MINUTES.next)
        report(`${rate} answers a second for ${figure(minutes)} minutes`)
        const end = Date.now() + minutes * 60_000
        const writing = writeAnswers(db, brands, rate, end)
        const late: Promise<number>[] = []
        const renamed: Promise<number>[] = []
        while (Date.now() < end) {
          late.push(servedLate(db, brands[39] ?? ''))
          renamed.push(servedRename(db, brands[40] ?? ''))
          await sleep(PROBE_MS)
        }
        const times = [await Promise.all(late), await Promise.all(renamed)]
        const written = Math.round((await writing) / minutes / 60)
        rows.push([written, ...times.flatMap((each) => [median(each), Math.max(...each)]).map(Math.round)])
        if (times.some((each) => median(each) > GOAL_S)) break
      }
      await db.end()
      return [
        {
          title: `Seconds until a change is served, while answers are written to ${BRANDS} brands`,
          columns: [
            'answers a second',
            'late citation, median',
            'longest',
            'renamed brand, median',
            'longest',
          ],
          rows,
          note: `Goal: medians of ${GOAL_S} at ${RATES[0]}. Steps of ${figure(sized(MINUTES.first))} and ${figure(sized(MINUTES.next))} minutes, until a median is longer. The citation is of last month, the brand has 60 days. The database is ${LATENCY_MS} ms away, and the scheduled Worker runs every minute, with two lanes.`,
        },
      ]
    } finally {
      await service.close()
    }
  })

/** Renames a brand and returns the seconds until all its days have the new name. */
async function servedRename(db: pg.Pool, brandId: string): Promise<number> {
  const name = `Renamed ${Date.now()}`
  await db.query('update brands set name = $2 where id = $1', [brandId, name])
  return secondsUntil(
    db,
    `select from daily.recommended_rate where brand_id = $1 and is_brand having bool_and(entity_name >= $2)`,
    [brandId, name],
  )
}
