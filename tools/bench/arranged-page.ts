import { setTimeout as delay } from 'node:timers/promises'
import { cpuOf, spent } from './cpu.ts'
import { type Ask, connect, drive, fetchBody } from './drive.ts'
import { backendsOf } from './page-cost.ts'
import type { EachPlace } from './reach.ts'
import { timed } from './rounds.ts'
import { type TwoDatabases, type Way, WORKERS } from './two-databases.ts'

/** Everything next door. */
export const NEAR: Distances = { caller: 0, primary: 0, replica: 0, counter: 0 }

/** Milliseconds from a Worker to what it asks, and from a caller to the Worker. */
export type Distances = EachPlace & { readonly caller: number }

/** The page, which has to be the same whoever is asked. */
export async function samePage({ workers }: TwoDatabases, ask: Ask): Promise<Buffer> {
  const bodies = await Promise.all(
    WORKERS.map(async (name) => {
      const pool = connect(workers[name].url, 1)
      try {
        return await fetchBody(pool, ask)
      } finally {
        await pool.close()
      }
    }),
  )
  const [expected] = bodies
  if (expected === undefined || bodies.some((body) => !body.equals(expected))) {
    throw new Error('The arrangements give different pages')
  }
  return expected
}

/** One page at some distances, with the trips that it took. */
export async function onePage(
  { workers }: TwoDatabases,
  { worker, away, ask }: { worker: Way; away: Distances; ask: Ask },
): Promise<{ ms: number; trips: EachPlace }> {
  const { url, distances, trips } = workers[worker]
  const pool = connect(url, 1)
  try {
    // The connection is made before the clock starts.
    await (await pool.request({ path: '/', method: 'GET' })).body.dump()
    setDistances(distances, away)
    const before = { ...trips }
    const ms = await timed(async () => {
      if (away.caller > 0) await delay(away.caller)
      await fetchBody(pool, ask)
    })
    return {
      ms,
      trips: {
        primary: trips.primary - before.primary,
        replica: trips.replica - before.replica,
        counter: trips.counter - before.counter,
      },
    }
  } finally {
    setDistances(distances, NEAR)
    await pool.close()
  }
}

function setDistances(distances: EachPlace, { primary, replica, counter }: EachPlace): void {
  Object.assign(distances, { primary, replica, counter })
}

/** Processor milliseconds of a page, by who spent them. */
export type Cost = { readonly primary: number; readonly replica: number; readonly worker: number }

/** Drives a Worker with a page, everything next door, and counts what ran for it. */
export async function cost(
  { primary, replica, workers, pid }: TwoDatabases,
  { name, ask, expected, connections }: { name: Way; ask: Ask; expected: Buffer; connections: number },
): Promise<Cost> {
  const { url } = workers[name]
  const driven = (seconds: number) => drive({ url, ask, expected, connections, seconds })
  // Connections that were closed meanwhile are opened, and their plans made.
  await driven(0.3)
  const look = async () => ({
    primary: cpuOf(await backendsOf(primary)),
    replica: cpuOf(await backendsOf(replica)),
    worker: cpuOf([pid]),
  })
  const before = await look()
  const { pages } = await driven(1.5)
  const after = await look()
  const each = (who: keyof Cost) => spent(before[who], after[who]) / pages
  return { primary: each('primary'), replica: each('replica'), worker: each('worker') }
}
