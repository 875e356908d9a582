import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/emulator.ts'
import { call } from '../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../fixtures/clock.ts'
import type { Day } from '../fixtures/day.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { brand, exportKey, refresh } from '../fixtures/rows.ts'
import { answeredDays, rowTexts, type Scene, scene } from '../fixtures/scene.ts'
import { tenant } from '../fixtures/tenant.ts'

// What a copy holds after any history: test/histories/days.test.ts. The statement's plan: test/e2e/plan.test.ts.

const { db, url } = await isolatedPool()
let service: Emulator
beforeAll(async () => {
  await clearOfMidnight(60_000)
  service = await startOwnService({ databaseUrl: url })
})
afterAll(() => service.close())

type Query = Readonly<Record<string, string | undefined>>

/** Sends a request as a client with its own rate budget. */
async function read(key: string | undefined, query: Query | string = {}, method = 'GET') {
  const search = typeof query === 'string' ? query : new URLSearchParams(JSON.parse(JSON.stringify(query)))
  const headers = { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }) }
  const response = await fetch(`${service.url}/api/export/v1/days?${search}`, { method, headers })
  const text = await response.text()
  const body: {
    data: Day[]
    pagination: { hasMore: boolean; nextCursor: string }
    meta: object
    error: string
  } = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, headers: response.headers, text, ...body }
}

/** Reads pages from a query while there are more: their documents, and the last cursor. */
async function run(key: string, query: Query = {}) {
  const data: Day[] = []
  for (let next = query; ; ) {
    const page = await read(key, next)
    if (page.status !== 200) throw new Error(`${page.status} ${page.text}`)
    data.push(...page.data)
    const cursor = page.pagination.nextCursor
    if (!page.pagination.hasMore) return { data, cursor }
    next = { ...query, since: undefined, cursor }
  }
}

const keysOf = (days: readonly Day[]) => days.map(({ endpoint, date }) => `${endpoint} ${date}`)

/** Lists all days of stored rows that a test wrote. */
const relist = (brandId: string, metric = 'citations') =>
  db.query('select daily.relist($1, $2)', [metric, brandId])

/** A URL of `length` characters in each of a day's rows of citations. */
const fillCitations = (brandId: string, day: string, rows: number, length: number) =>
  db.query(
    `insert into daily.citations (brand_id, date, url_hash, url, domain, is_owned, citations)
     select $1, $2, md5(url)::uuid, url, null, false, number
     from generate_series(1, $3::int) as number, lateral (select rpad('https://site.example/' || number || '/', $4, 'x') as url) as cited`,
    [brandId, day, rows, length],
  )

describe('a page', () => {
  let its: Scene
  beforeAll(async () => {
    its = await answeredDays(db, { first: '2026-10-01', days: 2 })
  })

  test('has the documents of all metrics in the order of their changes, with the bytes of the metrics', async () => {
    const options = { service: service.url, key: its.key, query: { brandId: its.brandId } }
    const { data: changes } = await call('/changes', options)
    expect(changes.length).toBe(12)
    const documents = await Promise.all(
      changes.map(async ({ endpoint, date, changed_at, digest, rows }) => {
        const window = { fromDate: String(date), toDate: String(date) }
        const metric = await call(`/${endpoint}`, { ...options, query: { ...options.query, ...window } })
        const texts = rowTexts(metric)
        expect(texts).toHaveLength(Number(rows))
        return `{"endpoint":"${endpoint}","brand_id":"${its.brandId}","date":"${date}","changed_at":"${changed_at}","causes":{},"digest":"${digest}","row_count":${rows},"offset":0,"rows":[${texts.join()}]}`
      }),
    )
    const { status, headers, text, pagination } = await read(its.key)
    expect([status, headers.get('Content-Type'), headers.get('ETag'), headers.get('Link')]).toEqual([
      200,
      'application/json',
      null,
      null,
    ])
    expect(text).toBe(
      `{"data":[${documents.join(',\n')}],"pagination":{"pageSize":1000,"hasMore":false,"nextCursor":"${pagination.nextCursor}"},"meta":{"brandId":null,"fromDate":"0001-01-01T00:00:00.000Z","plan":"enterprise"}}`,
    )
  })

  test('has no document when nothing changed, and a cursor that goes on', async () => {
    const { cursor } = await run(its.key)
    const { data, pagination, headers } = await read(its.key, { cursor })
    expect([data, pagination.hasMore, headers.get('Link')]).toEqual([[], false, null])
    expect(await read(its.key, { cursor: pagination.nextCursor })).toMatchObject({ status: 200, data: [] })
  })

  test('is every day with an empty cursor', async () => {
    expect((await read(its.key, { cursor: '' })).data).toEqual((await read(its.key)).data)
  })

  test('is the answer to HEAD without its body, and 405 to other methods', async () => {
    const head = await read(its.key, {}, 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
    const post = await read(its.key, {}, 'POST')
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('has the days of one endpoint, of one brand, from a first day, and later than a time', async () => {
    const all = (await read(its.key)).data
    const one = await read(its.key, { endpoint: 'citation-share' })
    expect(one.data).toEqual(all.filter(({ endpoint }) => endpoint === 'citation-share'))
    const { data, meta } = await read(its.key, { brandId: its.brandId.toUpperCase(), fromDate: '2026-10-02' })
    expect(data).toEqual(all.filter(({ date }) => date === '2026-10-02'))
    expect(meta).toEqual({ brandId: its.brandId, fromDate: '2026-10-02T00:00:00.000Z', plan: 'enterprise' })
    const since = all[5]?.changed_at ?? ''
    const later = all.filter(({ changed_at }) => changed_at > since)
    expect((await read(its.key, { since })).data.map(({ date }) => date)).toEqual(
      later.map(({ date }) => date),
    )
  })

  test('has the brands of the key in the order of their ids', async () => {
    const other = await brand(db, its.org)
    await fillCitations(other, '2026-10-05', 1, 100)
    await relist(other)
    const { key } = await exportKey(db, its.org)
    const seen = [...new Set((await read(key)).data.map(({ brand_id }) => brand_id))]
    expect(seen).toEqual([its.brandId, other].sort())
    const { key: limited } = await exportKey(db, its.org, { brand_ids: [other] })
    expect(keysOf((await read(limited)).data)).toEqual(['citations 2026-10-05'])
    await db.query('update brands set active = false where id = $1', [other])
    expect((await read(limited)).data).toEqual([])
  })
})

describe('causes', () => {
  test('are those that are new to the reader, and none of a day that it never had', async () => {
    const its = await answeredDays(db, { first: '2026-10-01', days: 2 })
    const { cursor } = await run(its.key)
    await db.query(
      `update citations set owned = true where recorded_at < '2026-10-02'
       and answer_id in (select answers.id from answers join prompts on prompts.id = prompt_id where brand_id = $1)`,
      [its.brandId],
    )
    await its.say('2026-10-03T00:00:00Z', { mentions: ['Acme'] })
    await refresh(db)
    const { data, cursor: next } = await run(its.key, { cursor })
    const old = data.filter(({ date }) => date === '2026-10-01')
    expect(keysOf(old)).toEqual(['citation-share 2026-10-01', 'citations 2026-10-01'])
    for (const { causes, changed_at } of old) expect(causes).toEqual({ citations: changed_at })
    const fresh = data.filter(({ date }) => date === '2026-10-03')
    expect(fresh.length).toBeGreaterThan(0)
    for (const { causes } of fresh) expect(causes).toEqual({})

    await db.query('update prompts set retired_at = now() where brand_id = $1', [its.brandId])
    await refresh(db)
    const { data: emptied } = await run(its.key, { cursor: next })
    expect(emptied.length).toBe(old.length + fresh.length + 10)
    for (const { rows, row_count, digest, causes, changed_at } of emptied)
      expect([rows, row_count, digest, causes]).toEqual([[], 0, '000000000000000', { prompts: changed_at }])
  })

  test('are none of the days that a key with another list, or a plan that grew, receives', async () => {
    const its = await answeredDays(db, { first: daysAgo(100), days: 1 })
    const { id, key } = await exportKey(db, its.org, { brand_ids: [its.brandId, randomUUID()] })
    await db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [its.org.id])
    await its.say(`${daysAgo(10)}T00:00:00Z`, { mentions: ['Acme'] })
    await refresh(db)
    const { data, cursor } = await run(key)
    expect(new Set(data.map(({ date }) => date))).toEqual(new Set([daysAgo(10)]))
    await db.query('update api_keys set brand_ids = null where id = $1', [id])
    const restarted = await run(key, { cursor })
    expect(restarted.data).toEqual(data)
    await db.query(`update subscriptions set plan = 'enterprise' where organization_id = $1`, [its.org.id])
    const grown = await run(key, { cursor: restarted.cursor })
    expect(new Set(grown.data.map(({ date, causes }) => `${date} ${JSON.stringify(causes)}`))).toEqual(
      new Set([`${daysAgo(100)} {}`]),
    )
    expect((await run(key, { cursor: grown.cursor })).data).toEqual([])
  })

  test('of a brand that becomes readable are its brands', async () => {
    const its = await answeredDays(db, { first: '2026-10-01', days: 1 })
    const { cursor } = await run(its.key)
    await db.query('update brands set active = false where id = $1', [its.brandId])
    await refresh(db)
    await db.query('update brands set active = true where id = $1', [its.brandId])
    await refresh(db)
    const { data } = await run(its.key, { cursor })
    expect(data).toHaveLength(6)
    for (const { causes, changed_at } of data) expect(causes).toEqual({ brands: changed_at })
  })
})

test('fromDate is clamped to the plan, and no earlier day is sent', async () => {
  const its = await scene(db)
  await db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [its.org.id])
  for (const days of [91, 90, 89]) await fillCitations(its.brandId, daysAgo(days), 1, 100)
  await relist(its.brandId)
  for (const fromDate of [undefined, '2020-01-01']) {
    const { data, meta } = await read(its.key, { fromDate })
    expect(data.map(({ date }) => date)).toEqual([daysAgo(90), daysAgo(89)])
    expect(meta).toMatchObject({ fromDate: `${daysAgo(90)}T00:00:00.000Z`, plan: 'pro' })
  }
})

describe('X-Data-As-Of', () => {
  const asOf = async (key: string, query: Query = {}) =>
    (await read(key, query)).headers.get('X-Data-As-Of') ?? ''
  const now = async (): Promise<string> =>
    (
      await db.query(
        `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`,
      )
    ).rows[0].now

  test('is the earliest of the brands of the key', async () => {
    const its = await answeredDays(db, { first: '2026-10-01', days: 1 })
    const other = await answeredDays(db, { first: '2026-10-01', days: 1 })
    const before = await now()
    await its.say('2026-10-02T00:00:00Z')
    await db.query('select daily.resolve()')
    expect((await asOf(its.key)) <= before).toBe(true)
    expect((await asOf(other.key)) > before).toBe(true)
    await refresh(db)
    expect((await asOf(its.key)) > before).toBe(true)
  })

  test('is not later than the return of a brand whose days are not listed yet', async () => {
    const its = await answeredDays(db, { first: '2026-10-01', days: 1 })
    await db.query('update brands set active = false where id = $1', [its.brandId])
    await refresh(db)
    const { cursor } = await run(its.key)
    const before = await now()
    await db.query('update brands set active = true where id = $1', [its.brandId])
    expect((await asOf(its.key)) <= before).toBe(true)
    await db.query('select daily.resolve()')
    expect((await asOf(its.key)) <= before).toBe(true)
    expect((await asOf(its.key, { brandId: its.brandId })) <= before).toBe(true)
    expect((await read(its.key, { cursor })).data).toEqual([])
    await refresh(db)
    const page = await read(its.key, { cursor })
    expect(page.data).toHaveLength(6)
    expect((page.headers.get('X-Data-As-Of') ?? '') > before).toBe(true)
  })
})

describe('many rows', () => {
  test('a page has at most 1,000 documents, and a Link to the next one', async () => {
    const its = await scene(db)
    await fillDaily(db, {
      name: 'sentiment',
      brandId: its.brandId,
      rows: 1500,
      first: '2020-01-01',
      days: 1500,
    })
    await relist(its.brandId, 'sentiment')
    const first = await read(its.key, {
      endpoint: 'sentiment',
      since: '2020-01-01T00:00:00Z',
      fromDate: '2019-01-01',
    })
    expect([first.data.length, first.pagination.hasMore]).toEqual([1000, true])
    const link = /^<(.+)>; rel="next"$/.exec(first.headers.get('Link') ?? '')?.[1] ?? ''
    const { pathname, searchParams } = new URL(link)
    expect([pathname, ...[...searchParams.keys()].sort()]).toEqual([
      '/api/export/v1/days',
      'cursor',
      'endpoint',
      'fromDate',
    ])
    const second = await read(its.key, link.slice(link.indexOf('?') + 1))
    expect([second.data.length, second.pagination.hasMore, second.headers.get('Link')]).toEqual([
      500,
      false,
      null,
    ])
    expect(new Set([...first.data, ...second.data].map(({ date }) => date)).size).toBe(1500)
  })

  test('a page has whole days of at most 1,000 rows together, and a day of more when it is below 4 MB', async () => {
    const its = await scene(db)
    for (const [day, rows] of Object.entries({
      '2026-10-01': 600,
      '2026-10-02': 400,
      '2026-10-03': 1,
      '2026-10-04': 1500,
    }))
      await fillCitations(its.brandId, day, rows, 100)
    await relist(its.brandId)
    const pages: (readonly [string, number, number])[][] = []
    for (let query: Query = {}, hasMore = true; hasMore; ) {
      const { data, pagination } = await read(its.key, query)
      pages.push(data.map(({ date, offset, rows }) => [date, offset, rows.length]))
      query = { cursor: pagination.nextCursor }
      hasMore = pagination.hasMore
    }
    expect(pages).toEqual([
      [
        ['2026-10-01', 0, 600],
        ['2026-10-02', 0, 400],
      ],
      [['2026-10-03', 0, 1]],
      [['2026-10-04', 0, 1500]],
    ])
  })

  test('a larger day comes in parts of less than 4 MB, with each row once, and then other days', async () => {
    const its = await scene(db)
    await fillCitations(its.brandId, '2026-10-01', 6000, 1500)
    await fillCitations(its.brandId, '2026-10-02', 1, 100)
    await relist(its.brandId)
    const parts: Day[] = []
    const urls: unknown[] = []
    for (let query: Query = {}, hasMore = true; hasMore; ) {
      const { text, data, pagination } = await read(its.key, query)
      expect(Buffer.byteLength(text)).toBeLessThan(4 * 1024 * 1024)
      for (const day of data) {
        expect(day.offset).toBe(day.date === '2026-10-01' ? urls.length : 0)
        if (day.date === '2026-10-01') urls.push(...day.rows.map(({ url }) => url))
      }
      parts.push(...data)
      query = { cursor: pagination.nextCursor }
      hasMore = pagination.hasMore
    }
    expect(keysOf(parts.slice(-1))).toEqual(['citations 2026-10-02'])
    const large = parts.slice(0, -1)
    expect(large.length).toBeGreaterThanOrEqual(3)
    expect(new Set(large.map(({ row_count, digest }) => `${row_count} ${digest}`)).size).toBe(1)
    const { rows } = await db.query(
      `select url from daily.citations where brand_id = $1 and date = '2026-10-01' order by url_hash`,
      [its.brandId],
    )
    expect(new Set(urls)).toEqual(new Set(rows.map(({ url }) => url)))
    expect(urls).toHaveLength(6000)
  })
})

describe('errors', () => {
  const CURSOR = 'd'.padEnd(50, 'A')

  test.each([
    'toDate=2026-10-01',
    'format=csv',
    'format=ndjson',
    'format=xml',
    'since=yesterday',
    `since=2026-10-01T00:00:00Z&cursor=${CURSOR}`,
    `cursor=${CURSOR}`,
    'cursor=dA',
    'cursor=1',
    'endpoint=brands',
    'endpoint=changes',
    'endpoint=/citations',
    'endpoint=citation_share',
    'endpoint=',
    'endpoint=citations&endpoint=visibility',
    'brandId=no-uuid',
    'fromDate=2026-02-30',
    ...[
      'offset=1',
      'page=2',
      'limit=10',
      'next=x',
      'until=2026-10-01',
      'date=2026-10-01',
      'startDate=2026-10-01',
    ],
    ...['brand=x', 'updatedSince=2026-10-01', 'before=x'],
  ])('400 to %s', async (query) => {
    const { key } = await tenant(db)
    const { status, error, headers } = await read(key, query)
    expect([status, headers.get('Content-Type')]).toEqual([400, 'application/json'])
    expect(error).toMatch(/^[A-Z].+\.$/)
  })

  test('400 to a cursor of another endpoint, brand, first day or organization, and of a metric', async () => {
    const its = await answeredDays(db, { first: '2026-10-01', days: 1 })
    const own = { endpoint: 'citations', brandId: its.brandId, fromDate: '2026-10-01' }
    const { cursor } = await run(its.key, own)
    expect((await read(its.key, { ...own, cursor })).status).toBe(200)
    for (const other of [
      { endpoint: undefined },
      { endpoint: 'visibility' },
      { brandId: undefined },
      { fromDate: undefined },
      { fromDate: '2026-10-02' },
    ])
      expect((await read(its.key, { ...own, ...other, cursor })).status).toBe(400)
    const foreign = await tenant(db)
    const { cursor: ours } = await run(its.key)
    expect((await read(foreign.key, { cursor: ours })).status).toBe(400)
    // Every key of the organization goes on.
    const { key } = await exportKey(db, its.org)
    expect(await read(key, { cursor: ours })).toMatchObject({ status: 200, data: [] })
  })

  test('404 to a brand that the key does not read', async () => {
    const { org, key, brandId } = await tenant(db)
    const inactive = await brand(db, org, { active: false })
    const { brandId: foreign } = await tenant(db)
    const { key: limited } = await exportKey(db, org, { brand_ids: [] })
    expect((await read(key, { brandId })).status).toBe(200)
    expect((await read(limited)).status).toBe(200)
    for (const [reader, id] of [
      [key, inactive],
      [key, foreign],
      [key, randomUUID()],
      [limited, brandId],
    ] as const)
      expect((await read(reader, { brandId: id })).status).toBe(404)
  })

  test('401 and 403 before 400 and 404', async () => {
    const lite = await tenant(db, { plan: 'lite' })
    const unknown = `svc_live_${randomBytes(32).toString('hex')}`
    for (const query of [{}, { format: 'csv' }, { cursor: 'dA' }, { brandId: randomUUID() }]) {
      for (const key of [undefined, 'bad', unknown]) expect((await read(key, query)).status).toBe(401)
      expect((await read(lite.key, query)).status).toBe(403)
    }
  })
})
