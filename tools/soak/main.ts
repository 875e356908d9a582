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
import { figure, markdown, type Table } from '../bench/section.ts'
import { quantile } from '../bench/timing.ts'
import { type Changes, edit, refresh, revoke } from './changes.ts'
import { logFailure, noResults, type SoakClient, soakClient } from './clients.ts'
import { addData } from './data.ts'
import { heaps } from './heap.ts'
import { recordMemory } from './memory.ts'
import { startService } from './service.ts'

const options = new Command('soak')
  .description(
    'Keeps the service busy while rows change, keys are revoked and days are refreshed, and checks every row that it sends.',
  )
  .option('--minutes <number>', 'duration', whole, 15)
  .option('--clients <number>', 'connections, each with a rate budget of its own', whole, 2000)
  .option('--at-once <number>', 'concurrent requests', whole, 16)
  .parse()
  .opts<{ minutes: number; clients: number; atOnce: number }>()

const VOLUME = { organizations: 10, answers: 4_000 }
const SAMPLE_MS = 5_000
const PARTS = 5
const ERROR_EVENTS = ['unhandled_error', 'database_error']

await run(async () => {
  const { DATABASE_URL: serverUrl, REDIS_URL: redisServer } = process.env
  if (!serverUrl || !redisServer) {
    throw new UsageError(
      'The soak creates a database on a PostgreSQL server and uses an empty Redis database. Name both: DATABASE_URL=postgresql://… REDIS_URL=redis://… npm run soak',
    )
  }
  const redis = await claimRedis(redisServer)
  try {
    await inDatabase(serverUrl, (client, databaseUrl) => soak(client, databaseUrl, redis.url))
  } finally {
    await redis.release()
  }
})

async function soak(client: pg.Client, databaseUrl: string, redisUrl: string): Promise<void> {
  console.error('adding data')
  const keys = await addData(client, VOLUME)
  const paths = (await findOperations()).filter(({ paged }) => paged).map(({ path }) => path)
  const service = await startService(databaseUrl, redisUrl)
  const { url, pids, events } = service
  const results = noResults()
  const clients = Array.from({ length: options.clients }, () => soakClient({ url, keys, paths, results }))
  try {
    console.error('all clients at once')
    const unavailable = await Promise.all(clients.map(({ connect }) => connect()))
    const slowest = quantile(results.latencies, 1)
    Object.assign(results, { requests: 0, latencies: [] })
    const eventsBefore = new Map(events)
    const heapsBefore = await heaps(service, paths)
    const memory = recordMemory({ 'emulator (Node)': pids.emulator, 'Workers (workerd)': pids.workerd })

    console.error(`${options.minutes} minutes`)
    const end = performance.now() + options.minutes * 60_000
    const isOver = () => performance.now() >= end
    const counts: Changes['counts'] = { edits: 0, revocations: 0, refreshes: 0 }
    const changes = { url, keys, databaseUrl, results, counts, isOver }
    const sample = async () => {
      for (; !isOver(); await sleep(SAMPLE_MS)) memory.sample()
    }
    await Promise.all([
      requestPages(clients, isOver),
      edit(changes),
      revoke(changes),
      refresh(changes),
      sample(),
    ])

    console.error('checking the stored rows')
    const heapsAfter = await heaps(service, paths)
    await refreshAll(client)
    for await (const { metric } of verify(client, {}))
      logFailure(results, `a stored row of ${metric} differs`)
    for (const event of ERROR_EVENTS) {
      const times = (events.get(event) ?? 0) - (eventsBefore.get(event) ?? 0)
      if (times > 0) logFailure(results, `the log event ${event}`, times)
    }
    const again = unavailable.reduce((sum, times) => sum + times, 0)
    print(pagesTable({ results, counts, slowest, again }))
    print({
      title: 'Resident memory in each fifth of the time, MiB',
      columns: ['process', ...Array.from({ length: PARTS }, (_, part) => `${part + 1}`), 'last, second = 1'],
      rows: memory
        .parts(PARTS)
        .map(({ name, mebibytes }) => [
          name,
          ...mebibytes.map(Math.round),
          (mebibytes.at(-1) ?? Number.NaN) / (mebibytes[1] ?? Number.NaN),
        ]),
      note: 'The heaps have no limit here, so V8 leaves garbage uncollected. Cloudflare stops an isolate at 128 MB.',
    })
    print({
      title: 'Heap of each Worker after garbage collection, MiB',
      columns: ['Worker', 'after the first requests', 'at the end'],
      rows: [...heapsAfter].map(([path, size]) => [path, heapsBefore.get(path) ?? Number.NaN, size]),
    })
    for (const [failure, times] of results.failures) console.log(`${times} × ${failure}`)
    if (results.failures.size > 0) process.exitCode = 1
  } finally {
    await Promise.all(clients.map(({ close }) => close()))
    await service.close()
  }
}

/** Lets the clients take turns until the end, with some requests at once. */
async function requestPages(clients: readonly SoakClient[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const turns = clients.values()
    const takeTurns = async () => {
      for (const { requestPage } of turns) {
        if (isOver()) return
        await requestPage()
      }
    }
    await Promise.all(Array.from({ length: options.atOnce }, takeTurns))
  }
}

type Summary = Pick<Changes, 'results' | 'counts'> & { readonly slowest: number; readonly again: number }

function pagesTable({ results, counts, slowest, again }: Summary): Table {
  const { latencies, failures } = results
  const middle = quantile(latencies, 0.5)
  const failed = [...failures.values()].reduce((sum, times) => sum + times, 0)
  return {
    title: `${options.minutes} minutes, ${figure(options.clients)} clients, ${options.atOnce} requests at once`,
    columns: ['measure', 'value'],
    rows: [
      ['clients that sent their first request at once, and received a response', options.clients],
      ['503 at that moment, repeated with success', again],
      ['pages', results.requests],
      ['pages per second', results.requests / (options.minutes * 60)],
      ['rows checked', results.rows],
      ['windows pulled to their end', results.windows],
      ['edits', counts.edits],
      ['keys revoked', counts.revocations],
      ['refreshes', counts.refreshes],
      ['p99, median = 1', quantile(latencies, 0.99) / middle],
      ['slowest page, median = 1', quantile(latencies, 1) / middle],
      ['failures', failed],
    ],
    note: `The median page took ${figure(middle)} ms. The slowest of the first requests took ${figure(slowest)} ms. A failure is an unexpected status or log event, a row out of order or received twice, or a stored row that differs at the end.`,
  }
}

function print(table: Table): void {
  console.log(`${markdown(table)}\n`)
}
