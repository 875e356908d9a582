import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DAY_MS } from '../../../site/charts/days.ts'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { openCopy, tablesOf } from '../cli/copy.ts'
import { coverageOf } from '../cli/coverage.ts'
import { encodeCheckpoint } from '../cli/delta/checkpoint.ts'
import { versionName } from '../cli/delta/log.ts'
import { commit, type Table } from '../cli/delta/table.ts'
import { sync } from '../cli/sync.ts'
import { repair, verify } from '../cli/verify.ts'
import { ExportApi } from '../src/index.ts'
import { memoryBucket } from './memory-bucket.ts'
import { BRANDS, type Change, DATES, randomService, rowsIn, STREAMS, silent } from './random-service.ts'

// Syncs and repairs of one bucket. A seed decides which request is next, what the service changes, what runs copy, and which
// of them are killed, sleep or fail. Brands go and come at any time, and files and logs are damaged between runs.

const SEEDS = Number(process.env.SYNC_SEEDS ?? 40)
const HOUR_MS = DAY_MS / 24
// Those of killed runs stay.
process.setMaxListeners(100)

const uuids = vi.hoisted(() => ({ next: (): string => '' }))
vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof import('node:crypto')>()),
  randomUUID: () => uuids.next(),
}))

/** How a run may end while others write. */
const ENDS =
  /^Up to date$|^Other syncs write |^Not up to date: .*(Not now|No brand)\.|^No brand\.$|No brand has the id or name |^The brands of the key |has no copy\. Run sync first\.$|is not the file that sync wrote\. Run verify --repair\.$|^memory has the days from |^Days that the key does not reach are lost |is damaged or missing\./

type Run = { isKilled: boolean; isAlone?: true; end?: string }

/** Gives a table a version shortly before its next checkpoint. */
async function age(table: Table, version: number): Promise<void> {
  await commit(table, 'CREATE TABLE', { actions: [], expiry: 0 })
  const log = `${table.name}/_delta_log`
  const { bytes } = encodeCheckpoint(table.snapshot, 0)
  await table.store.replace(`${log}/${versionName(version)}.checkpoint.parquet`, bytes)
  await table.store.replace(`${log}/_last_checkpoint`, JSON.stringify({ version }))
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-01') }))
afterEach(() => void vi.useRealTimers())

test.for(Array.from({ length: SEEDS }, (_, index) => index + 1))('seed %d', async (seed) => {
  const random = seededRandom(seed)
  const { below, chance, pick, some } = random
  uuids.next = () => `00000000-0000-4000-8000-${String(below(10 ** 12)).padStart(12, '0')}`
  const service = randomService(random)
  let readable = BRANDS
  const bucket = memoryBucket()
  const atOnce = bucket.open()
  /** Returns the files that the tables name; none while a log is damaged. */
  const objectsOf = async () => {
    const copy = await openCopy(atOnce).catch(() => undefined)
    return (copy === undefined ? [] : tablesOf(copy)).flatMap(({ name, snapshot }) =>
      [...snapshot.files.keys()].map((path) => `${name}/${path}`),
    )
  }
  const removeTable = (name: string) => {
    for (const path of bucket.names()) if (path.startsWith(`${name}/`)) bucket.remove(path)
  }
  const deleted = new Set<string>()
  /** The days of which a run has said that it has them. */
  const promised = new Set<string>()
  let isAltered = false
  const waiting: (() => void)[] = []
  const turn = () => new Promise<void>((resolve) => waiting.push(resolve))
  const takeTurn = async () => {
    waiting.splice(below(waiting.length), 1)[0]?.()
    // All runs then wait for their next turns.
    await setImmediate()
    if (chance(0.1))
      expect((await objectsOf()).filter((path) => !bucket.has(path) && !deleted.has(path))).toEqual([])
  }
  const damageLog = () => {
    isAltered = true
    const name = pick(['brands', ...STREAMS.map(({ name }) => name)])
    if (chance(name === 'brands' ? 0.5 : 0.3)) return removeTable(name)
    const entries = bucket.names().filter((path) => path.startsWith(`${name}/_delta_log/`))
    if (entries.length === 0) return
    if (name === 'brands') {
      // The scope of before is as good, unless it leaves out days that have rows.
      promised.clear()
      return void bucket.remove(
        entries
          .filter((path) => path.endsWith('.json'))
          .sort()
          .at(-1) ?? '',
      )
    }
    const entry = pick(entries)
    const bytes = Buffer.from(bucket.bytesOf(entry))
    if (chance(0.5)) bucket.remove(entry)
    else bucket.put(entry, bytes.subarray(0, below(bytes.length)))
  }
  const alterFile = async () => {
    const files = (await objectsOf()).filter(bucket.has)
    if (files.length === 0) return
    isAltered = true
    const path = pick(files)
    const bytes = Buffer.from(bucket.bytesOf(path))
    const flipped = Buffer.from(bytes)
    const at = below(bytes.length)
    flipped.writeUInt8(bytes.readUInt8(at) ^ (1 << below(8)), at)
    const contents = [bytes, flipped, bytes.subarray(below(bytes.length)), bucket.bytesOf(pick(files))]
    if (chance(0.8)) return void bucket.put(path, pick(contents))
    deleted.add(path)
    bucket.remove(path)
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
        // Brands go and come between two lists.
        const brands = !run.isAlone && brandId === null && chance(0.3) ? some(BRANDS, 0.7) : readable
        return isFailing
          ? Response.json({ error: 'Not now.' }, { status: 400 })
          : service.respond(url, brands)
      })
    }
    return {
      api: new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch }),
      store: bucket.open(exchange, () => chance(0.2)),
      progress: silent,
    }
  }
  const start = async (run: Run, work: Promise<unknown>) => {
    run.end = await work.then(
      () => 'Up to date',
      ({ message }) => message,
    )
  }
  /** Returns the days that the copy is of. */
  const daysCovered = async () => {
    const { fromDate, toDate, endpoints, brandIds } =
      coverageOf(await openCopy(atOnce))?.scope ?? expect.fail()
    const isCovered = ({ brand_id, endpoint, date }: Change) =>
      (brandIds?.includes(brand_id) ?? true) &&
      (endpoints?.includes(endpoint) ?? true) &&
      fromDate <= date &&
      date <= toDate
    const all = BRANDS.flatMap((brand_id) =>
      STREAMS.flatMap(({ endpoint }) => DATES.map((date) => ({ brand_id, endpoint, date }))),
    )
    return { isCovered, days: all.filter(isCovered).map((day) => Object.values(day).join()) }
  }
  const syncing = async (job: Parameters<typeof sync>[0], wanted?: readonly string[]) => {
    await sync(job, wanted)
    for (const day of (await daysCovered()).days) promised.add(day)
  }
  /** Lets what killed runs sent arrive. */
  const end = async () => {
    while (waiting.length > 0) await takeTurn()
  }
  const expectEqual = async () => {
    readable = BRANDS
    // As the error advises.
    for (const { name } of STREAMS) {
      const error: unknown = await openCopy(atOnce).catch((error) => error)
      if (error instanceof Error && error.message.includes(`/${name}: `)) removeTable(name)
    }
    const alone = async (work: (job: ReturnType<typeof accessOf> & { full: boolean }) => Promise<void>) => {
      const run: Run = { isKilled: false, isAlone: true }
      void start(run, work({ ...accessOf(run), full: chance(0.5) }))
      while (run.end === undefined) await takeTurn()
      expect(run.end).toBe('Up to date')
    }
    const expectRows = async () =>
      expect(await rowsIn(atOnce)).toEqual(await service.rows((await daysCovered()).isCovered))
    const found: unknown[] = []
    const isCopied = tablesOf(await openCopy(atOnce)).some(({ snapshot }) => snapshot.version >= 0)
    if (isCopied) await alone(async (job) => void found.push(...(await verify(job))))
    if (isCopied && found.length === 0) await expectRows()
    // A sync does not look into files that it need not write again.
    if (isCopied && isAltered) await alone(repair)
    await alone(syncing)
    await alone(async (job) => expect(await verify(job)).toEqual([]))
    await expectRows()
    expect((await daysCovered()).days).toEqual(expect.arrayContaining([...promised]))
    isAltered = false
  }
  if (chance(0.5)) for (const table of tablesOf(await openCopy(atOnce))) await age(table, 96 + below(4))
  const runs: Run[] = []
  for (let step = 0; step < 1500; step += 1) {
    const alive = runs.filter(({ isKilled, end }) => !isKilled && end === undefined)
    if (alive.length < 3 && runs.length < 20 && chance(0.1)) {
      const run: Run = { isKilled: false }
      runs.push(run)
      const job = {
        ...accessOf(run, chance(0.3) ? pick(BRANDS) : undefined),
        concurrency: 1 + below(3),
        fromDate: chance(0.25) ? pick(['2026-09-10', '2026-10-01', '2026-10-02']) : undefined,
        toDate: chance(0.2) ? pick(['2026-09-10', '2026-10-01', '2026-10-31']) : undefined,
        endpoints: chance(0.2) ? [pick(STREAMS).endpoint] : undefined,
      }
      const work = chance(0.7)
        ? syncing(job, chance(0.3) ? some(BRANDS, 0.6) : undefined)
        : pick([repair, verify])({ ...job, full: chance(0.5) })
      void start(run, work)
    }
    if (chance(0.01)) for (let days = 1 + below(6); days > 0; days -= 1) service.restate()
    if (chance(alive.length === 0 ? 0.3 : 0.003)) readable = some(BRANDS, 0.8)
    if (alive.length > 0 && chance(0.004)) pick(alive).isKilled = true
    if (chance(0.004)) vi.setSystemTime(Date.now() + pick([HOUR_MS / 2, 2 * HOUR_MS]))
    // Longer than files are kept that a run reads.
    if (alive.length === 0 && chance(0.02)) vi.setSystemTime(Date.now() + 8 * DAY_MS)
    if (alive.length === 0 && chance(0.1)) {
      await end()
      if (chance(0.7)) await alterFile()
      if (chance(0.2)) damageLog()
      // The version before can name files that expired.
      for (const path of await objectsOf()) if (!bucket.has(path)) deleted.add(path)
      if (chance(0.3)) await expectEqual()
    }
    await takeTurn()
  }
  for (const run of runs) run.isKilled = true
  await end()
  expect(runs.flatMap(({ end }) => end ?? []).filter((end) => !ENDS.test(end))).toEqual([])
  await expectEqual()
  // An hour later, the next sync deletes what killed runs have left.
  vi.setSystemTime(Date.now() + 2 * HOUR_MS)
  await expectEqual()
  const known = tablesOf(await openCopy(atOnce)).flatMap(({ name, snapshot }) =>
    [...snapshot.files.keys(), ...snapshot.removed.keys()].map((path) => `${name}/${path}`),
  )
  const names = bucket.names().filter((path) => !path.includes('_delta_log') && !known.includes(path))
  expect(names).toEqual([])
})
