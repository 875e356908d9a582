import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { PARAMETER_ERRORS } from '../../lib/request/errors.ts'
import { fieldNames } from '../../lib/rows/schema.ts'
import { call } from '../fixtures/call.ts'
import { clientWith } from '../fixtures/client-with.ts'
import { findEndpoints, hasRowsOfBrand } from '../fixtures/endpoints.ts'
import { fillDaily, hasManyRowsADay } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database, manyBrands } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const endpoints = await findEndpoints()
const paged = endpoints.filter(hasRowsOfBrand)

let intercept: Intercept = () => undefined
let lines: Record<string, unknown>[] = []

const service = await startOwnService({
  intercept: (...asked) => intercept(...asked),
  // workerd itself logs a stream that fails.
  onLog: (line) => line.startsWith('{') && lines.push(JSON.parse(line)),
})
afterAll(() => service.close())

beforeEach(() => {
  intercept = () => undefined
  lines = []
})

const ALL = { fromDate: '2010-01-01', toDate: '2030-12-31' }

type Get = {
  readonly format?: string
  readonly query?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly method?: string
}

/** Requests all rows of a brand; not through {@link call}, which reads JSON. */
async function get(
  path: string,
  { key, brandId }: Pick<Tenant, 'key' | 'brandId'>,
  { format = 'ndjson', query = {}, headers = {}, method = 'GET' }: Get = {},
): Promise<Response> {
  const search = new URLSearchParams({ brandId, ...ALL, format, ...query })
  return fetch(`${service.url}/api/export/v1${path}?${search}`, {
    method,
    headers: { 'User-Agent': randomUUID(), 'X-API-Key': key, 'Accept-Encoding': 'identity', ...headers },
  })
}

/** The rows of all pages, each as its JSON text. A page has a row per line. */
async function textsOfPages(path: string, { key, brandId }: Tenant): Promise<string[]> {
  const rows: string[] = []
  let cursor: string | undefined
  do {
    const page = await call(path, { key, query: { brandId, ...ALL, cursor } })
    rows.push(...page.text.slice('{"data":['.length, page.text.lastIndexOf('],"pagination"')).split(',\n'))
    cursor = page.pagination.nextCursor ?? undefined
  } while (cursor !== undefined)
  return rows
}

/** A brand with citations. */
async function cited(rows: number): Promise<Tenant> {
  const its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows, first: '2015-01-01', days: 10 })
  return its
}

/** Lists the days of a brand's citations, as the refresh does. */
const list = ({ brandId }: Tenant) => db.query(`select daily.relist('citations', $1)`, [brandId])

/** Runs work before the nth request of a file to a service, which then passes. Returns the number of requests. */
function beforeRequest(to: 'neon' | 'upstash', number: number, work: () => unknown): { count: number } {
  const requests = { count: 0 }
  intercept = async (each) => {
    if (each !== to) return undefined
    requests.count += 1
    if (requests.count === number) await work()
    return undefined
  }
  return requests
}

const fileLine = () => lines.find(({ event }) => event === 'file')

describe.each(paged)('a file of $path', ({ name, path, row }) => {
  test('has the rows of all pages, byte for byte as NDJSON', async () => {
    const its = await tenant(db)
    const days = (await hasManyRowsADay(db, name)) ? 3 : 2500
    await fillDaily(db, { name, brandId: its.brandId, rows: 2500, first: '2015-01-01', days })
    const ndjson = await (await get(path, its)).text()
    const pages = await textsOfPages(path, its)
    expect(pages).toHaveLength(2500)
    expect(ndjson).toBe(pages.map((each) => `${each}\n`).join(''))

    const csv = await (await get(path, its, { format: 'csv' })).text()
    const [header, ...records] = csv.split('\r\n')
    expect(header).toBe(fieldNames(row).join(','))
    expect(records).toHaveLength(2501)
  })
})

describe('a file of /brands', () => {
  test('has the rows of the JSON response in parts, byte for byte as NDJSON', async () => {
    const its = await tenant(db)
    await manyBrands(db, its.org, 6001)
    await db.query(
      'update api_keys set brand_ids = (select array_agg(id) from brands where organization_id = $2) where id = $1',
      [its.keyId, its.org.id],
    )
    const { data, text } = await call('/brands', its)
    expect(data).toHaveLength(6002)
    const reads = beforeRequest('neon', 0, () => undefined)
    const response = await get('/brands', its)
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="brands.ndjson"')
    const ndjson = await response.text()
    expect(`{"data":[${ndjson.trimEnd().replaceAll('\n', ',')}]}`).toBe(text)
    expect(reads.count).toBe(3)

    const csv = await (await get('/brands', its, { format: 'csv' })).text()
    const [header, ...records] = csv.trimEnd().split('\r\n')
    expect(header).toBe(Object.keys(data[0] ?? {}).join(','))
    expect(records).toEqual(data.map((row) => Object.values(row).join(',')))
  })

  test('begins before it waits for a refill', async () => {
    const its = await tenant(db)
    await manyBrands(db, its.org, 1000)
    const headers = await clientWith(1, service, { prefix: 'export-api-rows' })
    const { promise: begins, resolve: onFirstBytes } = Promise.withResolvers<void>()
    const order: string[] = []
    intercept = async (to) => {
      order.push(to)
      if (order.filter((each) => each === 'upstash').length === 4) await begins
      return undefined
    }
    const chunks = []
    for await (const chunk of (await get('/brands', its, { headers })).body ?? []) {
      onFirstBytes()
      chunks.push(chunk)
    }
    expect(Buffer.concat(chunks).toString().split('\n')).toHaveLength(1002)
    expect(order.slice(2), 'its first page, denied, and again').toEqual([...Array(3).fill('upstash'), 'neon'])
  })
})

describe('a file', () => {
  test.each([
    ['citations', 3, 3],
    ['citations', 2500, 2500],
    ['changes', 2500, 2500],
    ['brands', 1500, 1501],
    ['sentiment', 0, 0],
  ])('of /%s says how many rows it has, one of %i', async (name, rows, expected) => {
    const its = await tenant(db)
    if (name === 'brands') await manyBrands(db, its.org, rows)
    else await fillDaily(db, { name, brandId: its.brandId, rows, first: '2015-01-01', days: 10 })
    if (name === 'citations') await list(its)
    const head = await get(`/${name}`, its, { method: 'HEAD' })
    const [ndjson, csv] = [await get(`/${name}`, its), await get(`/${name}`, its, { format: 'csv' })]
    for (const { headers } of [head, ndjson, csv])
      expect(headers.get('X-Expected-Rows')).toBe(String(expected))
    expect((await ndjson.text()).split('\n')).toHaveLength(expected + 1)
    expect((await csv.text()).split('\r\n'), 'with the header').toHaveLength(expected + 2)
  })

  test('has its headers, also for HEAD', async () => {
    // A brand waits for its days to be listed since the resolve before.
    await db.query('select daily.resolve()')
    const its = await cited(3)
    await db.query('select daily.resolve()')
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await get('/citations', its, { format: 'csv', method })
      expect(status).toBe(200)
      expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present')
      expect(headers.get('Content-Disposition')).toBe(
        `attachment; filename="citations_${its.brandId}_2010-01-01_2030-12-31.csv"`,
      )
      expect(headers.get('X-Data-As-Of')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(headers.get('RateLimit')).toMatch(/r=99;/)
      expect(headers.get('ETag')).toBeNull()
    }
    expect((await get('/citations', its)).headers.get('Content-Type')).toBe('application/x-ndjson')
  })

  test.each([
    ['gzip', 'gzip'],
    ['br, gzip', 'gzip'],
    ['gzip;q=0, br', null],
    ['identity', null],
  ])('accepted as %s is encoded as %s', async (accepted, encoding) => {
    const its = await cited(2500)
    const response = await get('/citations', its, { headers: { 'Accept-Encoding': accepted } })
    expect(response.headers.get('Content-Encoding')).toBe(encoding)
    expect(response.headers.get('Vary')).toBe('Accept-Encoding')
    expect((await response.text()).split('\n')).toHaveLength(2501)
  })

  test('of too many rows is a 400 that asks for a shorter window', async () => {
    const its = await cited(1500)
    await list(its)
    const listAgain = (date: string, rows: number) =>
      db.query('update daily.changes set rows = $3 where brand_id = $1 and date = $2', [
        its.brandId,
        date,
        rows,
      ])
    const head = async (query = {}) => (await get('/citations', its, { method: 'HEAD', query })).status
    // The other 9 days have 150 each.
    await listAgain('2015-01-01', 1_998_651)
    const refused = await call('/citations', {
      key: its.key,
      service: service.url,
      query: { brandId: its.brandId, ...ALL, format: 'csv' },
    })
    expect([refused.status, refused.error, await head()]).toEqual([400, PARAMETER_ERRORS.tooManyRows, 400])
    await listAgain('2015-01-01', 1_998_650)
    expect(await head()).toBe(200)
    await listAgain('2015-01-10', 2_000_000)
    expect(await head({ toDate: '2015-01-09' }), 'of the window alone').toBe(200)
    expect(await head({ fromDate: '2015-01-02' })).toBe(400)
  })

  test('of large rows is read in parts of at most 5 MB', async () => {
    const its = await cited(1600)
    await db.query(`update daily.citations set url = rpad(url, 8000, 'x') where brand_id = $1`, [its.brandId])
    const reads = beforeRequest('neon', 0, () => undefined)
    expect((await (await get('/citations', its)).text()).split('\n')).toHaveLength(1601)
    // 13 MB: a page of 4, and parts of 5 and 4.
    expect(reads.count).toBe(3)
  })
})

// The price of a file: test/unit/file-budget.test.ts.
test.each([
  'citations',
  'changes',
  'brands',
])('the budget of a file of /%s is consumed before the rows are read', async (name) => {
  const its = await tenant(db)
  if (name === 'brands') await manyBrands(db, its.org, 8499)
  else await fillDaily(db, { name, brandId: its.brandId, rows: 8500, first: '2015-01-01', days: 10 })
  if (name === 'citations') await list(its)
  const order: string[] = []
  intercept = async (to, request) => {
    const body: unknown = await request.clone().json()
    order.push(to === 'neon' ? 'read' : `consume ${Array.isArray(body) ? body.at(-1) : ''}`)
    return undefined
  }
  expect((await (await get(`/${name}`, its)).text()).split('\n')).toHaveLength(8501)
  expect(order.slice(2)).toEqual(['consume 1', 'consume 5', 'read', 'consume 3', 'read'])
})

describe('a file whose rows cannot be read to the end', () => {
  const broken = () => new Response('', { status: 500 })

  const revoke = ({ keyId }: Tenant) =>
    db.query('update api_keys set revoked_at = now() where id = $1', [keyId])
  const lower = ({ org }: Tenant) =>
    db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [org.id])

  test.each([
    ['/citations', 'identity', 'the key is revoked', revoke, 401],
    ['/citations', 'gzip', 'the key is revoked', revoke, 401],
    ['/citations', 'identity', 'the plan is lowered', lower, 403],
    ['/brands', 'identity', 'the key is revoked', revoke, 401],
  ])('breaks the transfer of %s, encoded as %s, when %s', async (path, encoding, _, change, status) => {
    const its = await cited(1500)
    await manyBrands(db, its.org, 1000)
    beforeRequest('neon', 2, () => change(its))
    const response = await get(path, its, { headers: { 'Accept-Encoding': encoding } })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
    await expect.poll(fileLine).toMatchObject({ endpoint: path, outcome: 'failed', status, rows: 1000 })
  })

  test('ends for a client that leaves', async () => {
    const its = await cited(20_000)
    const leaving = new AbortController()
    const reads = beforeRequest('neon', 2, () => leaving.abort())
    const url = `${service.url}/api/export/v1/citations?${new URLSearchParams({ brandId: its.brandId, ...ALL, format: 'csv' })}`
    const headers = { 'User-Agent': randomUUID(), 'X-API-Key': its.key }
    await fetch(url, { headers, signal: leaving.signal })
      .then((response) => response.text())
      .catch(() => undefined)
    await expect.poll(fileLine).toMatchObject({ outcome: 'canceled' })
    // The Worker notices at the second write at the latest.
    expect(reads.count).toBeLessThanOrEqual(3)
  })

  test('is read to the end after a failure that passes', async () => {
    const its = await cited(1500)
    let requests = 0
    intercept = async (to) => {
      if (to === 'neon') requests += 1
      return to === 'neon' && requests === 2 ? broken() : undefined
    }
    expect((await (await get('/citations', its)).text()).split('\n')).toHaveLength(1501)
    expect(requests).toBe(3)
    await expect.poll(fileLine).toMatchObject({ outcome: 'complete', rows: 1500 })
  })
})
