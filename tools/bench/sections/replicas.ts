import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { BUDGET } from '../../../lib/rate-limit.ts'
import { type Cost, cost, type Distances, NEAR, onePage, samePage } from '../arranged-page.ts'
import { servicePages } from '../contenders/service.ts'
import type { Ask } from '../drive.ts'
import { fillMillion, rowsAt } from '../million.ts'
import { figure } from '../print.ts'
import { addPlace, type Change, cite, revoke, untrueFor } from '../promises.ts'
import type { EachPlace } from '../reach.ts'
import { inTurns, median, timed } from '../rounds.ts'
import type { Section, Setting, Table } from '../section.ts'
import { tenant } from '../tenant.ts'
import { inTwoDatabases, type TwoDatabases, type Way, WORKERS } from '../two-databases.ts'

/** How far the region of the primary is from that of the caller. */
const AWAY_MS = 200
/** How far the replica stays behind. */
const BEHIND_MS = 3_000
const ROUNDS = { page: 20, cpu: 7, promise: 3 }
const CONNECTIONS = 4

/** Who is asked, and where everything is. */
type Arrangement = {
  readonly name: string
  readonly worker: Way
  readonly away: Distances
}

const FAR: Distances = { caller: 0, primary: AWAY_MS, replica: 0, counter: AWAY_MS }

const ARRANGEMENTS: readonly Arrangement[] = [
  { name: 'all from the primary, the Worker by the caller (the service)', worker: 'primary', away: FAR },
  {
    name: 'all from the primary, the Worker by the primary (the service, placed)',
    worker: 'primary',
    away: { ...NEAR, caller: AWAY_MS },
  },
  { name: 'access from the primary, rows from a replica by the caller', worker: 'split', away: FAR },
  { name: 'all from the replica, the counter by the primary', worker: 'replica', away: FAR },
  {
    name: 'all from the replica, a counter beside it',
    worker: 'replica',
    away: { ...FAR, counter: 0 },
  },
]

/** What a replica by the caller buys, and what it does to what the service promises. */
export const section: Section = async (setting) => {
  setting.tell('a primary and a replica')
  return inTwoDatabases({ behindMs: BEHIND_MS, fill }, async (databases, { key, brandId }) => {
    const { before } = await rowsAt(databases.primary, brandId, 1)
    if (before === undefined) throw new Error('There is no page')
    const { first } = await servicePages({ key, brandId, before })
    const expected = await samePage(databases, first)
    return [
      await bought({ setting, databases, ask: first, expected }),
      await broken({ setting, databases, ask: first, brandId }),
    ]
  })
}

async function fill(client: Client): Promise<{ key: string; brandId: string }> {
  const whose = await tenant(client)
  // A tenth at any size: only first pages are read.
  const { brandId } = await fillMillion(client, whose, (full) => full / 10)
  await addPlace(client)
  return { key: whose.key, brandId }
}

type Measuring = {
  readonly setting: Setting
  readonly databases: TwoDatabases
  readonly ask: Ask
}

/** Time, trips and processor time of a page in each arrangement. */
async function bought({
  setting,
  databases,
  ask,
  expected,
}: Measuring & { expected: Buffer }): Promise<Table> {
  const rounds = {
    page: Math.max(7, Math.round(setting.sized(ROUNDS.page))),
    cpu: Math.max(3, Math.round(setting.sized(ROUNDS.cpu))),
  }
  setting.tell('pages')
  const measured = await inTurns(
    Object.fromEntries(
      [
        ...ARRANGEMENTS.map(({ name, worker, away }) => ({ name, worker, away })),
        ...WORKERS.map((worker) => ({ name: worker, worker, away: NEAR })),
      ].map(({ name, worker, away }) => [name, () => onePage(databases, { worker, away, ask })]),
    ),
    rounds.page,
  )
  setting.tell('processor time')
  const costs = await inTurns(
    Object.fromEntries(
      WORKERS.map((name) => [name, () => cost(databases, { name, ask, expected, connections: CONNECTIONS })]),
    ),
    rounds.cpu,
  )
  const time = (name: string) => median(measured(name).map(({ ms }) => ms))
  const trips = (name: string, place: keyof EachPlace) =>
    median(measured(name).map((page) => page.trips[place]))
  const cpu = (name: Way, of: keyof Cost) => median(costs(name).map((each) => each[of]))
  const nextDoor = time('primary')
  const primary = cpu('primary', 'primary')
  const worker = cpu('primary', 'worker')
  const both = (name: Way) => cpu(name, 'primary') + cpu(name, 'replica')
  return {
    title: `A page with the primary ${AWAY_MS} ms from the caller, in each arrangement`,
    columns: [
      'arrangement',
      'trips: primary',
      'replica',
      'counter',
      'time',
      'time with no distance',
      'CPU: primary',
      'both databases',
      'Worker',
    ],
    rows: ARRANGEMENTS.map(({ name, worker: by }) => [
      name,
      trips(name, 'primary'),
      trips(name, 'replica'),
      trips(name, 'counter'),
      time(name) / AWAY_MS,
      time(by) / nextDoor,
      // A pool at rest costs less than this.
      Math.round((cpu(by, 'primary') / primary) * 1000) / 1000,
      both(by) / primary,
      cpu(by, 'worker') / worker,
    ]),
    note: [
      `Time: 1 = ${AWAY_MS} ms, one crossing; with no distance, 1 = the service (${figure(nextDoor)} ms). CPU: 1 = the primary's for a page of the service (${figure(primary)} ms), and workerd's (${figure(worker)} ms). Medians of ${rounds.page} and ${rounds.cpu} alternating rounds; processor time at ${CONNECTIONS} connections without distance, of the processes that serve statements; what following the primary costs the replica is not in it.`,
      `Both servers are PostgreSQL ${await versionOf(databases.primary)} started by this section, the replica by streaming; every arrangement gave the same page of ${figure(expected.length)} bytes. The service's own Worker asks one database; the one that asks two is test/bench/arrangements/split.ts, made of the service's parts, for first pages alone. One process of this machine plays both Neons, so a second trip takes more of the time with no distance than it would there. The first and the last arrangement run the same code: what their Workers differ by is noise.`,
      `Derived: a core as fast as this one serves ${figure(Math.round(1000 / primary))} pages a second from one database, which is ${figure(Math.round((1000 / primary) * (BUDGET.seconds / BUDGET.requests)))} callers who spend all of their budget.`,
    ].join(' '),
  }
}

/** For how long each Worker goes on to say what is not true any more. */
async function broken({ setting, databases, ask, brandId }: Measuring & { brandId: string }): Promise<Table> {
  const { primary, workers } = databases
  const rounds = Math.max(2, Math.round(setting.sized(ROUNDS.promise)))
  const watch = (change: Change) =>
    Promise.all(
      WORKERS.map((name) => untrueFor({ url: workers[name].url, ask, forMs: BEHIND_MS * 1.4, ...change })),
    )
  const revoked: number[][] = []
  const promised: number[][] = []
  const refreshed: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    setting.tell(`a revoked key and a late answer, ${round + 1} of ${rounds}`)
    await revoke(primary, true)
    revoked.push(
      await watch({ isUntrue: ({ status }) => status === 200, isNew: ({ status }) => status === 401 }),
    )
    await revoke(primary, false)
    await delay(BEHIND_MS * 1.2)

    const url = await cite(primary, brandId)
    const watching = watch({
      isUntrue: ({ settledThrough, text }) => settledThrough !== undefined && !text.includes(url),
      isNew: ({ settledThrough, text }) => settledThrough !== undefined && text.includes(url),
    })
    refreshed.push(await timed(() => refreshAll(primary)))
    promised.push(await watching)
  }
  const behind = (trials: readonly (readonly number[])[], name: Way) =>
    median(trials.map((trial) => trial[WORKERS.indexOf(name)] ?? Number.NaN)) / BEHIND_MS
  const named = {
    primary: 'all from the primary (the service)',
    split: 'access from the primary, rows from the replica',
    replica: 'all from the replica',
  }
  return {
    title: `What a replica that is ${BEHIND_MS / 1000} s behind does to promises`,
    columns: ['arrangement', 'a revoked key reads on', 'a day is called settled without its late answer'],
    rows: WORKERS.map((name) => [named[name], behind(revoked, name), behind(promised, name)]),
    note: `1 = ${BEHIND_MS / 1000} s, as far as the replica is behind (recovery_min_apply_delay). Medians of ${rounds} rounds, asked every 25 ms. The late answer is noted by its own transaction and refreshed at once (in ${figure(median(refreshed) / BEHIND_MS)} of that time); the Worker that asks both databases promises the earlier of what the two say, which is untrue where a note comes and goes while the replica is behind: a refresh at once is the worst case.`,
  }
}

async function versionOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ version: string }>(`select split_part(version(), ' ', 2) as version`)
  return rows[0]?.version ?? ''
}
