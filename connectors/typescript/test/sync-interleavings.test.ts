import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { MANIFEST, type Manifest } from '../cli/manifest.ts'
import { type Row, readParquet } from '../cli/parquet.ts'
import { createProgress } from '../cli/progress.ts'
import { repair } from '../cli/repair.ts'
import type { BrandState } from '../cli/state.ts'
import { bufferOf } from '../cli/store.ts'
import { sync } from '../cli/sync.ts'
import { verify } from '../cli/verify.ts'
import { ExportApi } from '../src/index.ts'
import { toArray } from './fake-api.ts'
import { memoryBucket } from './memory-bucket.ts'
import { BRANDS, randomService, STREAMS } from './random-service.ts'

// Syncs and repairs of one bucket. A seed decides which request is next, what the service changes, and which runs are
// killed, fail or copy a part. Brands go and come at any time.

const uuids = vi.hoisted(() => ({ next: (): string => '' }))
vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof import('node:crypto')>()),
  randomUUID: () => uuids.next(),
}))

/** How a run may end while others write. */
const ENDS =
  /^Up to date$|^Another sync has written |^Not up to date: .*(Not now|No brand)\.|^No brand\.$|The key does not read brand |^The brands of the key |has no copy\. Run sync first\.$/

type Run = { isKilled: boolean; end?: string }

const progress = createProgress({ quiet: true, stream: new Writable({ write: (_chunk, _, done) => done() }) })

const sortedTexts = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort()

test.for(Array.from({ length: 60 }, (_, index) => index + 1))('seed %d', async (seed) => {
  const random = seededRandom(seed)
  const { below, chance, pick, some } = random
  uuids.next = () => String(below(10 ** 12)).padStart(12, '0')
  const service = randomService(random)
  let readable = BRANDS
  const last: Run = { isKilled: false }
  const bucket = memoryBucket()
  const waiting: (() => void)[] = []
  const turn = () => new Promise<void>((resolve) => waiting.push(resolve))
  const manifest = (): Manifest | undefined =>
    JSON.parse(bucket.readText(MANIFEST)?.text ?? 'null') ?? undefined
  const expectComplete = () => {
    const { files = {}, states = {}, unfinished = {}, replaced = [] } = manifest() ?? {}
    const statePaths = [states, unfinished].flatMap((paths) => Object.values(paths))
    const ofStates = statePaths.flatMap((path) => {
      const state: BrandState = JSON.parse(bucket.readText(path)?.text ?? '{ "files": {} }')
      return Object.values(state.files).map((file) => file.path)
    })
    const named = [...Object.values(files).flat(), ...statePaths, ...ofStates, ...replaced]
    expect(named.filter((path) => !bucket.has(path))).toEqual([])
  }
  const takeTurn = async () => {
    waiting.splice(below(waiting.length), 1)[0]?.()
    // All runs then wait for their next turns.
    await setImmediate()
    expectComplete()
  }

  const accessOf = (run: Run, failing?: string) => {
    const exchange = async <Result>(carryOut: () => Result): Promise<Result> => {
      await turn()
      // What a process sent before it was killed can arrive.
      if (run.isKilled && chance(0.5)) return new Promise(() => {})
      const result = carryOut()
      await turn()
      return run.isKilled ? new Promise(() => {}) : result
    }
    const fetch: typeof globalThis.fetch = (input) => {
      const url = new URL(String(input))
      const brandId = url.searchParams.get('brandId')
      const isFailing = url.pathname.endsWith('/sentiment') && brandId === failing
      return exchange(() => {
        // Brands go and come between two lists, until the last run.
        const brands = run !== last && brandId === null && chance(0.3) ? some(BRANDS, 0.7) : readable
        return isFailing
          ? Response.json({ error: 'Not now.' }, { status: 400 })
          : service.respond(url, brands)
      })
    }
    return {
      api: new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch }),
      store: bucket.open(exchange, () => chance(0.2)),
      progress,
    }
  }
  const start = async (run: Run, work: Promise<unknown>) => {
    run.end = await work.then(
      () => 'Up to date',
      ({ message }) => message,
    )
  }
  const runs: Run[] = []
  for (let step = 0; step < 1500; step += 1) {
    const alive = runs.filter(({ isKilled, end }) => !isKilled && end === undefined)
    if (alive.length < 3 && runs.length < 20 && chance(0.1)) {
      const run: Run = { isKilled: false }
      runs.push(run)
      const job = {
        ...accessOf(run, chance(0.3) ? pick(BRANDS) : undefined),
        concurrency: 1 + below(3),
        fromDate: chance(0.25) ? '2026-10-01' : undefined,
        toDate: chance(0.15) ? '2026-10-31' : undefined,
        endpoints: chance(0.2) ? [pick(STREAMS).endpoint] : undefined,
      }
      void start(
        run,
        chance(0.2) ? repair({ ...job, full: true }) : sync(job, chance(0.3) ? [pick(BRANDS)] : undefined),
      )
    }
    if (chance(0.01)) for (let days = 1 + below(6); days > 0; days -= 1) service.restate()
    if (chance(alive.length === 0 ? 0.3 : 0.003)) readable = some(BRANDS, 0.8)
    if (alive.length > 0 && chance(0.004)) pick(alive).isKilled = true
    await takeTurn()
  }
  for (const run of runs) run.isKilled = true
  while (waiting.length > 0) await takeTurn()
  expect(runs.flatMap(({ end }) => end ?? []).filter((end) => !ENDS.test(end))).toEqual([])

  readable = BRANDS
  const job = { ...accessOf(last), fromDate: undefined, full: true }
  const found: unknown[] = []
  void start(
    last,
    sync(job, undefined).then(async () => found.push(...(await toArray(verify(job))))),
  )
  while (last.end === undefined) await takeTurn()
  expect({ end: last.end, found }).toEqual({ end: 'Up to date', found: [] })
  for (const { endpoint, columns } of STREAMS) {
    const files = manifest()?.files[endpoint] ?? []
    const rows = files.map((path) => toArray(readParquet(bufferOf(bucket.read(path)), columns)))
    expect(sortedTexts((await Promise.all(rows)).flat())).toEqual(sortedTexts(service.rowsOf(endpoint)))
  }
})
