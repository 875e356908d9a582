import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type pg from 'pg'
import { findOperations } from '../../bundle/find-workers.ts'
import { whole } from '../../cli/options.ts'
import { run } from '../../cli/run.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { verify } from '../../drizzle/db/verify.ts'
import { claimRedis } from '../../test/support/redis.ts'
import { inDatabase } from '../bench/database.ts'
import { figure, markdown } from '../bench/print.ts'
import { quantile } from '../bench/rounds.ts'
import { type Caller, caller, logFailure, nothingSeen, type Seen } from './callers.ts'
import { type Done, edit, refresh, revoke } from './disturbances.ts'
import { type Heaps, heaps } from './heap.ts'
import { memory } from './memory.ts'
import { startService } from './service.ts'
import { settle } from './world.ts'

const options = new Command('soak')
  .description(
    'Keeps the service as busy as this machine allows, while rows are edited, keys revoked and days refreshed, and looks at every row that it sends.',
  )
  .option('--minutes <number>', 'how long', whole, 15)
  .option('--callers <number>', 'connections, each with a rate budget of its own', whole, 2000)
  .option('--at-once <number>', 'requests under way at any moment', whole, 16)
  .parse()
  .opts<{ minutes: number; callers: number; atOnce: number }>()

const VOLUME = { organizations: 10, answers: 4_000 }
const LOOK_MS = 5_000
const PARTS = 5

await run(async () => {
  const { DATABASE_URL: serverUrl, REDIS_URL: redisServer } = process.env
  if (!serverUrl || !redisServer) {
    throw new UsageError(
      'The soak needs real servers, on which it uses a database of its own: DATABASE_URL=postgresql://… REDIS_URL=redis://… npm run soak',
    )
  }
  const redis = await claimRedis(redisServer)
  try {
    await inDatabase(serverUrl, (client, databaseUrl) => soak(client, { databaseUrl, redisUrl: redis.url }))
  } finally {
    await redis.release()
  }
})

async function soak(client: pg.Client, servers: { databaseUrl: string; redisUrl: string }): Promise<void> {
  console.error('rows')
  const places = await settle(client, VOLUME.organizations, VOLUME.answers)
  const paths = (await findOperations()).filter(({ paged }) => paged).map(({ path }) => path)
  console.error('the service')
  const service = await startService(servers.databaseUrl, servers.redisUrl)
  const { url, pids, events } = service
  const seen = nothingSeen()
  const done: Done = { edits: 0, revocations: 0, refreshes: 0 }
  const callers = Array.from({ length: options.callers }, () => caller({ url, places, paths, seen }))
  try {
    console.error('all callers at once')
    const refused = await Promise.all(callers.map(({ arrive }) => arrive()))
    const arrival = {
      slowest: quantile(seen.latencies, 1),
      refused: refused.reduce((sum, times) => sum + times, 0),
    }
    forget(seen)
    const before = new Map(events)
    const heapsBefore = await heaps(service, paths)
    const held = memory({ 'the emulator (Node)': pids.emulator, 'the Workers (workerd)': pids.workerd })
    const end = performance.now() + options.minutes * 60_000
    const over = () => performance.now() >= end
    const scene = { url, places, databaseUrl: servers.databaseUrl, seen, done, over }
    const watch = async () => {
      while (!over()) {
        held.look()
        await sleep(LOOK_MS)
      }
    }
    console.error(`${options.minutes} minutes`)
    await Promise.all([drivenUntil(callers, over), edit(scene), revoke(scene), refresh(scene), watch()])

    console.error('the end')
    const heapsAfter = await heaps(service, paths)
    await refreshAll(client)
    for await (const { metric } of verify(client, {}))
      logFailure(seen, `a stored row of ${metric} that differs`)
    const failures = new Map([...events].map(([event, times]) => [event, times - (before.get(event) ?? 0)]))
    for (const event of ['failed', 'database_error']) {
      if (failures.get(event)) logFailure(seen, `${failures.get(event)} lines "${event}"`)
    }
    print({ seen, done, arrival, parts: held.parts(PARTS), heapsBefore, heapsAfter })
    if (seen.wrong.size > 0) process.exitCode = 1
  } finally {
    await Promise.all(callers.map(({ leave }) => leave()))
    await service.close()
  }
}

/** Each caller asks in its turn, some at once, until the end. */
async function drivenUntil(callers: readonly Caller[], over: () => boolean): Promise<void> {
  while (!over()) await driven(callers, over)
}

async function driven(callers: readonly Caller[], over: () => boolean): Promise<void> {
  const waiting = callers.values()
  await Promise.all(
    Array.from({ length: options.atOnce }, async () => {
      for (const { ask } of waiting) {
        if (over()) return
        await ask()
      }
    }),
  )
}

function forget(seen: Seen): void {
  seen.requests = seen.rows = seen.pulls = seen.uncounted = seen.latencies.length = 0
}

type Outcome = {
  readonly seen: Seen
  readonly done: Done
  /** What came of everybody's asking at the same moment, before: the slowest answer (ms), and how many were refused and asked again. */
  readonly arrival: { readonly slowest: number; readonly refused: number }
  readonly parts: ReturnType<ReturnType<typeof memory>['parts']>
  readonly heapsBefore: Heaps
  readonly heapsAfter: Heaps
}

function print({ seen, done, arrival, parts, heapsBefore, heapsAfter }: Outcome): void {
  const { latencies } = seen
  const middle = quantile(latencies, 0.5)
  const wrong = [...seen.wrong.values()].reduce((sum, times) => sum + times, 0)
  const tables = [
    {
      title: `${options.minutes} minutes, ${figure(options.callers)} callers, ${options.atOnce} requests at once`,
      columns: ['what', 'times'],
      rows: [
        ['callers that asked at the same moment, and were all answered', options.callers],
        ['refused (503) at that moment, and served when they asked again', arrival.refused],
        ['pages', seen.requests],
        ['pages a second', seen.requests / (options.minutes * 60)],
        ['rows looked at', seen.rows],
        ['windows pulled to their end', seen.pulls],
        ['pages that did not wait for the counter', seen.uncounted],
        ['edits of raw rows meanwhile', done.edits],
        ['keys revoked, each refused by the next request', done.revocations],
        ['refreshes beside the service’s own', done.refreshes],
        ['p99, 1 = the median', quantile(latencies, 0.99) / middle],
        ['slowest, 1 = the median', quantile(latencies, 1) / middle],
        ['errors, refusals, rows out of order or twice, stored rows that differ at the end', wrong],
      ],
      note: `The median was ${figure(middle)} ms, p99 ${figure(quantile(latencies, 0.99))} ms; of those that asked at the same moment the slowest took ${figure(arrival.slowest)} ms.`,
    },
    {
      title: `Memory in each fifth of the time, MiB resident`,
      columns: ['process', ...Array.from({ length: PARTS }, (_, part) => `${part + 1}`), 'last to second'],
      rows: parts.map(({ name, mebibytes }) => [
        name,
        ...mebibytes.map((held) => Math.round(held)),
        (mebibytes.at(-1) ?? 0) / (mebibytes[1] ?? 1),
      ]),
      note: 'Nobody limits the Workers’ heaps here: garbage lies until V8 sees a need. Cloudflare ends an isolate at 128 MB.',
    },
    {
      title: 'What each Worker holds when its garbage is collected, MiB',
      columns: ['Worker', 'after everybody’s first request', 'at the end'],
      rows: [...heapsAfter].map(([name, held]) => [name, heapsBefore.get(name) ?? Number.NaN, held]),
    },
  ]
  for (const table of tables) console.log(`${markdown(table)}\n`)
  for (const [what, times] of seen.wrong) console.log(`${times} × ${what}`)
}
