import { Command } from 'commander'
import type pg from 'pg'
import { findOperations } from '../../bundle/find-workers.ts'
import { whole } from '../../cli/options.ts'
import { run } from '../../cli/run.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { verify } from '../../drizzle/db/verify.ts'
import { startEmulator } from '../../emulator/start.ts'
import { inDatabase } from '../bench/database.ts'
import { figure, markdown } from '../bench/section.ts'
import { addBrand, addTenant } from '../bench/tenant.ts'
import { quantile } from '../bench/timing.ts'
import { fill } from '../bench/volume.ts'
import { DAYS, edit, refresh, revoke } from './changes.ts'
import { type BrandKey, logFailure, noResults, soakClient } from './clients.ts'
import { heaps } from './heap.ts'

const options = new Command('soak')
  .description(
    'Keeps the service busy while rows change, keys are revoked and days are refreshed, and checks every row that it sends.',
  )
  .option('--minutes <number>', 'duration', whole, 15)
  .option('--clients <number>', 'connections, each with a rate budget of its own', whole, 2000)
  .option('--at-once <number>', 'concurrent requests', whole, 16)
  .parse()
  .opts<{ minutes: number; clients: number; atOnce: number }>()

const VOLUME = { organizations: 10, brands: 2, answers: 4_000 }
const ERROR_EVENTS = ['unhandled_error', 'database_error']

await run(async () => {
  const { DATABASE_URL: serverUrl, REDIS_URL: redisUrl } = process.env
  if (!serverUrl || !redisUrl) {
    throw new UsageError(
      'The soak creates a database on a PostgreSQL server and uses an empty Redis database. Name both: DATABASE_URL=postgresql://… REDIS_URL=redis://… npm run soak',
    )
  }
  await inDatabase(serverUrl, (client, databaseUrl) => soak(client, databaseUrl, redisUrl))
})

async function soak(client: pg.Client, databaseUrl: string, redisUrl: string): Promise<void> {
  console.error('adding data')
  const keys = await addData(client)
  const paths = (await findOperations()).filter(({ kind }) => kind === 'metric').map(({ path }) => path)
  const events = new Map<string, number>()
  const service = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    inspectorPort: 0,
    databaseUrl,
    redisUrl,
    onLog: (line) => {
      const event = /^\{"event":"(\w+)"/.exec(line)?.[1] ?? ''
      events.set(event, (events.get(event) ?? 0) + 1)
    },
  })
  const { url } = service
  const results = noResults()
  const clients = Array.from({ length: options.clients }, () => soakClient({ url, keys, paths, results }))
  try {
    console.error('all clients at once')
    const unavailable = await Promise.all(clients.map(({ connect }) => connect()))
    const slowest = quantile(results.latencies, 1)
    results.latencies.length = 0
    const eventsBefore = new Map(events)
    const heapsBefore = await heaps(service, paths)

    console.error(`${options.minutes} minutes`)
    const end = performance.now() + options.minutes * 60_000
    const isOver = () => performance.now() >= end
    // The clients take turns, with some requests at once.
    const requestPages = async () => {
      while (!isOver()) {
        const turns = clients.values()
        const takeTurns = async () => {
          for (const { requestPage } of turns) if (!isOver()) await requestPage()
        }
        await Promise.all(Array.from({ length: options.atOnce }, takeTurns))
      }
    }
    const changes = { url, keys, databaseUrl, results, isOver }
    const [edits, revocations, refreshes] = await Promise.all([
      edit(changes),
      revoke(changes),
      refresh(changes),
      requestPages(),
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
    const { latencies, failures } = results
    const middle = quantile(latencies, 0.5)
    const pages = {
      title: `${options.minutes} minutes, ${figure(options.clients)} clients, ${options.atOnce} requests at once`,
      columns: ['measure', 'value'],
      rows: [
        ['clients that sent their first request at once, and received a response', options.clients],
        ['503 at that moment, repeated with success', unavailable.reduce((sum, times) => sum + times, 0)],
        ['pages', latencies.length],
        ['pages per second', latencies.length / (options.minutes * 60)],
        ['rows checked', results.rows],
        ['windows pulled to their end', results.windows],
        ['edits', edits],
        ['keys revoked', revocations],
        ['refreshes', refreshes],
        ['p99, median = 1', quantile(latencies, 0.99) / middle],
        ['slowest page, median = 1', quantile(latencies, 1) / middle],
        ['failures', [...failures.values()].reduce((sum, times) => sum + times, 0)],
      ],
      note: `The median page took ${figure(middle)} ms. The slowest of the first requests took ${figure(slowest)} ms. A failure is an unexpected status or log event, a row out of order or received twice, or a stored row that differs at the end.`,
    }
    const memory = {
      title: 'Heap of each Worker after garbage collection, MiB',
      columns: ['Worker', 'after the first requests', 'at the end'],
      rows: paths.map((path) => [path, heapsBefore.get(path) ?? NaN, heapsAfter.get(path) ?? NaN]),
    }
    console.log(`${markdown(pages)}\n\n${markdown(memory)}\n`)
    for (const [failure, times] of failures) console.log(`${times} × ${failure}`)
    if (failures.size > 0) process.exitCode = 1
  } finally {
    await Promise.all(clients.map(({ close }) => close()))
    await service.close()
  }
}

/** Adds organizations with brands and a key each, and refreshes the daily rows. */
async function addData(client: pg.Client): Promise<BrandKey[]> {
  const keys: BrandKey[] = []
  for (let index = 0; index < VOLUME.organizations; index += 1) {
    const { organizationId, key } = await addTenant(client)
    for (let brand = 0; brand < VOLUME.brands; brand += 1) {
      const brandId = await addBrand(client, organizationId)
      await fill(client, { brandId, answers: VOLUME.answers, days: DAYS, citations: [1, 4] })
      keys.push({ organizationId, brandId, key })
    }
  }
  await client.query('analyze')
  await refreshAll(client, { maxDays: 400 })
  await client.query('vacuum analyze')
  return keys
}
