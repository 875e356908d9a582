import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DAY_MS } from '../../../site/charts/days.ts'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { openCopy, tablesOf } from '../cli/copy.ts'
import { columnNames } from '../cli/delta/log.ts'
import { dryRun } from '../cli/dry-run.ts'
import { DiffersError } from '../cli/errors.ts'
import { folderStore } from '../cli/folder-store.ts'
import { sync } from '../cli/sync.ts'
import { repair, verify } from '../cli/verify.ts'
import { ExportApi, ForbiddenError, ServerError } from '../src/index.ts'
import { memoryBucket } from './memory-bucket.ts'
import { BRANDS, randomService, rowsIn, silent } from './random-service.ts'

type Page = { data: Record<string, unknown>[]; meta: { fromDate: string } }

/** Sets up a service and a bucket. `alter` changes the pages of an endpoint. */
function setUp() {
  const service = randomService(seededRandom(7))
  const bucket = memoryBucket()
  const store = bucket.open()
  const requests: URL[] = []
  const readable: { brands: readonly string[] } = { brands: BRANDS }
  const altering = {
    alter: (_endpoint: string, _page: Page): void => {},
    status: 404,
    isFailing: (_url: URL) => false,
  }
  const fetch: typeof globalThis.fetch = async (input) => {
    const url = new URL(String(input))
    requests.push(url)
    if (altering.isFailing(url)) return Response.json({ error: 'Not yours.' }, { status: altering.status })
    const response = service.respond(url, readable.brands)
    const page = await response.json()
    if (response.ok) altering.alter(url.pathname.split('/').at(-1) ?? '', page)
    return Response.json(page, { headers: response.headers })
  }
  const job = {
    api: new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch }),
    store,
    progress: silent,
    fromDate: undefined,
    full: false,
  }
  const files = async () =>
    [...(await openCopy(store)).metrics.values()].flatMap(({ name, snapshot }) =>
      [...snapshot.files.keys()].map((path) => `${name}/${path}`),
    )
  const fetched = () => requests.filter(({ pathname }) => !/brands|changes/.test(pathname))
  return { service, bucket, requests, readable, altering, job, files, fetched }
}

test('updates all brands but the one that fails, and names it', async () => {
  const { service, altering, job } = setUp()
  altering.isFailing = ({ pathname, searchParams }) =>
    pathname.endsWith('/visibility') && searchParams.get('brandId') === BRANDS[1]
  const message = `Not up to date: ${BRANDS[1]}: Not yours. Other brands are up to date.`
  await expect(sync(job, undefined)).rejects.toThrow(new DiffersError(message))
  expect(await rowsIn(job.store)).toEqual(await service.rows(({ brand_id }) => brand_id !== BRANDS[1]))
})

test('what a stopped sync has fetched is not fetched again', async () => {
  const { service, altering, job, fetched } = setUp()
  Object.assign(altering, { status: 403, isFailing: ({ pathname }: URL) => pathname.endsWith('/sentiment') })
  await expect(sync({ ...job, concurrency: 1 }, undefined)).rejects.toThrow(ForbiddenError)
  altering.isFailing = () => false
  await sync(job, undefined)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
  const urls = fetched().map(String)
  expect(urls.filter((url, index) => urls.indexOf(url) < index)).toEqual([
    expect.stringContaining('/sentiment?'),
  ])
})

test('verify compares no time with the clock of this machine', async () => {
  const { job } = setUp()
  // Of a brand alone, the greatest change is later than those of the others, and the clock of the changes is ahead.
  for (let syncs = 0; syncs < 2; syncs += 1) await sync(job, undefined)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-10-01') })
  expect(await verify(job)).toEqual([])
  vi.useRealTimers()
})

test('verify finds a change that was lost on the way, and repair fetches it', async () => {
  const { service, altering, job } = setUp()
  // The second list is of no brand alone.
  for (let syncs = 0; syncs < 2; syncs += 1) await sync(job, undefined)
  for (let count = 0; count < 4; count += 1) service.restate()
  const lost: unknown[] = []
  altering.alter = (endpoint, { data }) => {
    if (endpoint === 'changes' && lost.length === 0) lost.push(...data.splice(0, 1))
  }
  await sync(job, undefined)
  expect(lost).toMatchObject([{}])
  expect(await verify(job)).toMatchObject([{ message: expect.stringMatching(/instead of /) }])
  await repair(job)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

test('a full list has all days, but those that the plan stops to reach meanwhile', async () => {
  const { service, altering, job } = setUp()
  altering.alter = (endpoint, page) => {
    if (endpoint === 'changes') page.meta.fromDate = '2026-10-01'
  }
  const reached = await service.rows(({ date }) => date >= '2026-10-01')
  await sync(job, undefined)
  expect(await rowsIn(job.store)).toEqual(reached)
  altering.alter = (endpoint, page) => {
    if (endpoint !== 'changes') return
    page.meta.fromDate = '2026-10-01'
    page.data = page.data.filter((day) => day.endpoint === 'visibility')
  }
  await repair(job)
  expect(await rowsIn(job.store)).toEqual({ ...reached, sentiment: [] })
})

/** What happens to a file between two syncs, and whether its days are fetched again. */
test.each<[string, (bucket: ReturnType<typeof memoryBucket>, path: string) => unknown, boolean]>([
  ['stays', () => {}, false],
  ['is emptied', (bucket, path) => bucket.put(path, ''), true],
  ['is deleted', (bucket, path) => bucket.remove(path), true],
])('a file that %s', async (_, happen, isFetched) => {
  const { service, bucket, job, files, fetched } = setUp()
  await sync(job, undefined)
  const before = fetched().length
  const [path = ''] = await files()
  happen(bucket, path)
  expect((await dryRun(job, undefined)) > 0).toBe(isFetched)
  await sync(job, undefined)
  expect(fetched().length > before).toBe(isFetched)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

test('ends while each list has changes, and equals the service as of that list', async () => {
  const { service, altering, job, requests } = setUp()
  altering.isFailing = ({ pathname, searchParams }) => {
    // The last one of the round.
    if (pathname.endsWith('/changes') && !searchParams.has('cursor'))
      for (const brand of BRANDS) service.restate(brand)
    return false
  }
  // The first two brands change after their lists, and before that of the third.
  await sync({ ...job, concurrency: 1 }, undefined)
  const before = requests.length
  await sync(job, undefined)
  const lists = requests.slice(before).filter(({ pathname }) => pathname.endsWith('/changes'))
  expect(lists.filter(({ searchParams }) => !searchParams.has('cursor'))).toHaveLength(1)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

test('a page that is followed by others without end ends the sync of its brand', async () => {
  const { altering, job, requests } = setUp()
  altering.alter = (endpoint, page) =>
    endpoint === 'visibility' &&
    Object.assign(page, { pagination: { pageSize: 1, hasMore: true, nextCursor: String(Math.random()) } })
  await expect(sync(job, undefined)).rejects.toThrow(
    /visibility from .* has more than 40 pages instead of \d+ rows?\. /,
  )
  expect(requests.length).toBeLessThan(200)
})

test('files that no version has go with a full disk, and with the process', async () => {
  const { job } = setUp()
  const folder = await mkdtemp(join(tmpdir(), 'ended-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const store = folderStore(folder)
  const written = async (table: string) =>
    (await readdir(join(folder, table))).filter((name) => name.startsWith('export-api-')).length
  const full = Object.assign(new Error('Full'), { syscall: 'write' })
  const createIfAbsent: typeof store.createIfAbsent = async (path, text) => {
    if (path.startsWith('visibility')) throw full
    return store.createIfAbsent(path, text)
  }
  await expect(sync({ ...job, store: { ...store, createIfAbsent } }, undefined)).rejects.toBe(full)
  expect([await written('brands'), await written('visibility')]).toEqual([1, 0])

  const counts: number[] = []
  const now: typeof store.now = async (name) => {
    if (name !== 'visibility') return store.now(name)
    counts.push(await written(name))
    // As a signal does.
    process.listeners('exit').at(-1)?.(143)
    counts.push(await written(name))
    throw new Error('The process has ended.')
  }
  await expect(sync({ ...job, store: { ...store, now } }, undefined)).rejects.toThrow('has ended')
  expect(counts).toEqual([3, 0])
})

test('lists all days again of a table that gets a column', async () => {
  const { service, bucket, requests, job, fetched } = setUp()
  await sync(job, undefined)
  const before = { lists: requests.length, rows: fetched().length }
  const entry = 'visibility/_delta_log/00000000000000000000.json'
  const text = Buffer.from(bucket.bytesOf(entry)).toString()
  const former = text.replace(/,\{[^{}]*visibility_rate[^{}]*\{\}\}/, '')
  expect(former.length).toBeLessThan(text.length)
  bucket.put(entry, former)
  await sync(job, undefined)
  const lists = requests.slice(before.lists).filter(({ pathname }) => pathname.endsWith('/changes'))
  expect(lists.slice(0, 3).map(({ searchParams }) => searchParams.get('since'))).toEqual([null, null, null])
  expect(fetched()).toHaveLength(before.rows)
  const table = (await openCopy(job.store)).metrics.get('visibility')
  expect(table && columnNames(table.snapshot)).toContain('visibility_rate')
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

/** What a hostile service sends in a row of an endpoint, and the error. */
test.each<[string, Record<string, string>, RegExp]>([
  ['brands', { id: '../../x' }, /lists a brand whose id is \.\.\/\.\.\/x/],
  ['changes', { brand_id: '../../x' }, /lists a change that is none/],
  ['changes', { date: '../../x' }, /lists a change that is none/],
  ['changes', { date: '2026-02-30' }, /lists a change that is none/],
  ['changes', { changed_at: '9' }, /lists a change that is none/],
  ['visibility', { date: '../../x' }, /instead of/],
])('writes nothing that %s with %j names', async (hostile, values, message) => {
  const { bucket, altering, job } = setUp()
  altering.alter = (endpoint, { data: [row] }) =>
    void (endpoint === hostile && Object.assign(row ?? {}, values))
  await expect(sync(job, undefined)).rejects.toThrow(message)
  const tables = tablesOf(await openCopy(job.store)).map(({ name }) => name)
  const isOfTable = (path: string) =>
    tables.includes(path.split('/')[0] ?? '') && /\/([-\w]+\.parquet|_delta_log\/\d+\.json)$/.test(path)
  expect(bucket.names().filter((path) => !isOfTable(path))).toEqual([])
})

test('rows are of the brand for which they were fetched', async () => {
  const { service, altering, job } = setUp()
  altering.alter = (endpoint, { data }) => {
    if (endpoint === 'visibility') for (const row of data) row.brand_id = BRANDS[0]
  }
  await sync(job, undefined)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

/** How the last of what says which part a copy has is lost. */
test.each<
  [string, (bucket: ReturnType<typeof memoryBucket>, before: ReadonlyMap<string, Uint8Array>) => unknown]
>([
  ['has lost its last version', (bucket) => bucket.remove(brandsOf(bucket).at(-1) ?? '')],
  [
    'is that of before',
    (bucket, before) => {
      for (const path of brandsOf(bucket)) bucket.remove(path)
      for (const [path, bytes] of before) bucket.put(path, bytes)
    },
  ],
])('a copy with days outside of its scope becomes one of everything: the folder brands %s', async (_, lose) => {
  const { service, bucket, altering, job } = setUp()
  await sync({ ...job, toDate: '2026-09-20' }, undefined)
  const before = new Map(brandsOf(bucket).map((path) => [path, bucket.bytesOf(path)]))
  Object.assign(altering, { status: 403, isFailing: ({ pathname }: URL) => pathname.endsWith('/sentiment') })
  await expect(sync({ ...job, toDate: '9999-12-31', concurrency: 1 }, undefined)).rejects.toThrow(
    'Not yours.',
  )
  altering.isFailing = () => false
  lose(bucket, before)
  for (let count = 0; count < 9; count += 1) service.restate()
  expect(await verify({ ...job, full: true })).not.toEqual([])
  await sync(job, undefined)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
  expect(await verify({ ...job, full: true })).toEqual([])
})

/** Returns what the folder of the brands has, its log in order at last. */
const brandsOf = (bucket: ReturnType<typeof memoryBucket>) =>
  bucket
    .names()
    .filter((path) => path.startsWith('brands/'))
    .sort(
      (left, right) =>
        Number(left.includes('_log')) - Number(right.includes('_log')) || (left < right ? -1 : 1),
    )

test('says which days are lost with a file, whatever ended the sync that removed it, and fetches the others', async () => {
  const { service, bucket, altering, job, files } = setUp()
  await sync(job, undefined)
  altering.alter = (endpoint, page) => {
    if (endpoint !== 'changes') return
    page.meta.fromDate = '2026-09-10'
    page.data = page.data.filter(({ date }) => String(date) >= '2026-09-10')
  }
  const paths = await files()
  for (const path of paths) bucket.remove(path)
  const failing = async (isFailing: (url: URL) => boolean) => {
    altering.isFailing = isFailing
    return sync(job, undefined).catch(({ message }) => message)
  }
  expect(await failing(({ pathname }) => pathname.endsWith('/changes'))).toMatch(/^Not up to date: /)
  expect(await failing(({ searchParams }) => searchParams.get('brandId') === BRANDS[1])).toMatch(
    /^Days that the key does not reach are lost with .*\. Not up to date: .* Other brands are up to date\.$/,
  )
  const [, lost = ''] =
    /^Days that the key does not reach are lost with (.*)\.$/.exec(await failing(() => false)) ?? []
  // Each table has a file of September, and others.
  expect(lost.split(', ').map((path) => path.replace(/\/.*/, ''))).toEqual(
    expect.arrayContaining(['sentiment', 'visibility']),
  )
  expect(paths).toEqual(expect.arrayContaining(lost.split(', ')))
  expect(await rowsIn(job.store)).toEqual(await service.rows(({ date }) => date >= '2026-09-10'))
  expect(await failing(() => false)).toHaveProperty('isWhole', true)
})

test('a copy with rows of a brand that failed, and then was switched off, does not equal the service', async () => {
  const { altering, job, readable } = setUp()
  await sync(job, undefined)
  altering.isFailing = ({ searchParams }) => searchParams.get('brandId') === BRANDS[1]
  await expect(sync({ ...job, isFull: true }, undefined)).rejects.toThrow('Not yours.')
  readable.brands = BRANDS.filter((brand) => brand !== BRANDS[1])
  for (let syncs = 0; syncs < 2; syncs += 1)
    expect(await sync(job, undefined)).toHaveProperty('isWhole', false)
})

test('a sync frees a full disk of files that expired, also where a killed one has left files', async () => {
  const { service, bucket, job } = setUp()
  await sync(job, undefined)
  for (let count = 0; count < 9; count += 1) service.restate()
  await sync(job, undefined)
  const left = 'brands/export-api-00000000-0000-4000-8000-000000000000.parquet'
  bucket.put(left, '')
  const expired = tablesOf(await openCopy(job.store)).flatMap(({ name, snapshot }) =>
    [...snapshot.removed.keys()].map((path) => `${name}/${path}`),
  )
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * DAY_MS })
  const full = new Error('Full')
  const store = { ...job.store, createIfAbsent: () => Promise.reject(full) }
  await expect(sync({ ...job, store }, undefined)).rejects.toBe(full)
  vi.useRealTimers()
  expect(expired).not.toEqual([])
  expect(expired.filter(bucket.has)).toEqual([])
  expect(bucket.has(left)).toBe(true)
})

test('a service that does not answer ends the sync, and no brand waits for it again', async () => {
  const { altering, job, requests } = setUp()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.setTimerTickMode('nextTimerAsync')
  Object.assign(altering, { status: 500, isFailing: ({ pathname }: URL) => pathname.endsWith('/changes') })
  await expect(sync({ ...job, concurrency: 1 }, undefined)).rejects.toThrow(ServerError)
  vi.useRealTimers()
  expect(requests.filter(({ pathname }) => pathname.endsWith('/changes'))).toHaveLength(10)
})

test('a torn log of the brands is an error whose advice makes a copy of everything', async () => {
  const { service, bucket, job } = setUp()
  await sync({ ...job, toDate: '2026-09-20' }, undefined)
  bucket.put(brandsOf(bucket).at(-1) ?? '', '{')
  await expect(sync(job, undefined)).rejects.toThrow(/Or delete this folder: .* becomes one of everything\.$/)
  for (const path of brandsOf(bucket)) bucket.remove(path)
  await sync(job, undefined)
  expect(await rowsIn(job.store)).toEqual(await service.rows())
})

test('a copy of two brands, one of them switched off, is continued without the option', async () => {
  const { job, readable } = setUp()
  const [one = '', two = ''] = BRANDS
  await sync(job, [one, two])
  readable.brands = [one]
  await expect(sync(job, [one])).rejects.toThrow(/leave out the options to continue it/)
  expect(await sync(job, undefined)).toHaveProperty('isWhole', false)
})
