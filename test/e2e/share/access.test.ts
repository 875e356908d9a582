import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { clientWith } from '../../fixtures/client-with.ts'
import { brand, exportKey, refresh } from '../../fixtures/rows.ts'
import {
  objectsOf,
  rowsOf,
  type ShareAnswer,
  type ShareCall,
  startShare,
  tablePath,
} from '../../fixtures/share.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const { db, service, ask, query, publish, logged } = await startShare()

const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')

/** Each kind of call, with a request of it that is malformed. */
const CALLS: readonly { path: string; malformed?: string; call?: ShareCall }[] = [
  { path: '/shares', malformed: '?maxResults=x' },
  { path: '/shares/export' },
  { path: '/shares/export/schemas', malformed: '?pageToken=x' },
  { path: '/shares/export/schemas/metrics/tables', malformed: '?maxResults=x' },
  { path: '/shares/export/all-tables', malformed: '?maxResults=x' },
  { path: tablePath('brands'), malformed: '?startingTimestamp=x', call: { method: 'HEAD' } },
  { path: `${tablePath('brands')}/version`, malformed: '?startingTimestamp=x' },
  { path: `${tablePath('brands')}/metadata`, malformed: '?version=x' },
  {
    path: `${tablePath('brands')}/changes?startingTimestamp=2999-01-01T00:00:00Z`,
    malformed: '&endingVersion=x',
  },
  { path: `${tablePath('brands')}/query`, call: { method: 'POST', body: '{}' } },
]

/** Delta's type of each type of a field. */
const TYPES: Readonly<Record<string, string>> = {
  date: 'date',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
}

let its: Tenant

/** Expects the protocol's error body, which only a response to HEAD leaves out. */
function expectShareError({ status, headers, text }: ShareAnswer, expected: number, errorCode: string): void {
  expect([status, text]).toEqual([expected, expect.any(String)])
  expect(headers.get('Content-Type')).toBe('application/json')
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('WWW-Authenticate')).toBe(expected === 401 ? 'Bearer' : null)
  if (text === '') return
  expect(JSON.parse(text)).toEqual({
    errorCode,
    message: expect.stringMatching(/^[A-Z][^\n]{9,199}[.…]$/),
  })
  expect(text).not.toMatch(/svc_live_[0-9a-f]|select\b|postgres|neon|redis|\bat .+:\d+/i)
}

const unauthenticated = (answer: ShareAnswer) => expectShareError(answer, 401, 'UNAUTHENTICATED')
const malformed = (answer: ShareAnswer) => expectShareError(answer, 400, 'INVALID_PARAMETER_VALUE')
const missing = (answer: ShareAnswer) => expectShareError(answer, 404, 'RESOURCE_DOES_NOT_EXIST')

test('before the first version the lists work and the tables are 503', async () => {
  its = await tenant(db)
  const { key } = its
  expect((await ask('/shares/export/all-tables', { key })).status).toBe(200)
  for (const call of ['version', 'metadata', 'changes?startingVersion=1']) {
    const answer = await ask(`${tablePath('visibility')}/${call}`, { key })
    expectShareError(answer, 503, 'TEMPORARILY_UNAVAILABLE')
    expect(answer.headers.get('Retry-After')).toBe('300')
  }
})

test('the publisher logs what it published, and that another one works', async () => {
  const published = () => logged.filter(({ event }) => String(event).startsWith('publish'))
  const { rows } = await db.query<{ lease: string }>(`select daily.take_lease('a test') as lease`)
  const { number, until } = JSON.parse(rows[0]?.lease ?? '')
  await publish()
  const message = `Another publisher works: a test. Its lease ends at ${until}, unless it goes on.`
  await expect.poll(published).toEqual([{ event: 'publish_busy', message }])
  await db.query('select daily.release_lease($1)', [number])
  await publish()
  await expect
    .poll(() => published().slice(1))
    .toEqual([{ event: 'published', version: 1, objects: 1, bytes: expect.any(Number) }])
})

describe('after a version', () => {
  beforeAll(async () => {
    await refresh(db)
    await publish()
  })
  afterEach(() => void logged.splice(0))

  describe.each(CALLS)('$path', ({ path, malformed: suffix, call = {} }) => {
    const send = (more: ShareCall = {}, to = path) => ask(to, { ...call, ...more })
    const bad = (key: string, to = path) =>
      suffix === undefined
        ? send({ key, ...(call.body !== undefined && { body: '[' }) }, to)
        : send({ key }, to + suffix)

    test('is 401 without an active export key as the bearer token, before all else', async () => {
      const { keyId: revoked, key: revokedKey } = await tenant(db, { plan: 'lite' })
      await db.query('update api_keys set revoked_at = now() where id = $1', [revoked])
      const { key: tools } = await tenant(db, { key: { scope: 'tools' } })
      unauthenticated(await send())
      unauthenticated(await bad(revokedKey))
      unauthenticated(await bad(tools))
      unauthenticated(await bad(its.key.replace('live', 'test')))
      unauthenticated(await send({ headers: { 'X-API-Key': its.key } }))
      unauthenticated(await send({ headers: { Authorization: `Basic ${its.key}` } }))
    })

    test('is 403 without an active plan, before the parameters', async () => {
      for (const terms of [{ plan: 'lite' }, { status: 'past_due' }, { plan: null }])
        expectShareError(await bad((await tenant(db, terms)).key), 403, 'PERMISSION_DENIED')
    })

    test('is 400 for what is malformed, before the share', async () => {
      if (suffix === undefined && call.body === undefined) return
      malformed(await bad(its.key))
      malformed(await bad(its.key, path.replace('/export', '/other')))
    })

    test('is 200 by one statement and one request of the budget', async () => {
      const before = service.subrequests()
      const answer = await send({ key: its.key, headers: { Authorization: `bearer  ${its.key}` } })
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
      expect(answer.headers.get('RateLimit')).toMatch(/^"default";r=99;t=\d+$/)
      const { neon, upstash } = service.subrequests()
      expect({ neon: neon - before.neon, upstash: upstash - before.upstash }).toEqual({ neon: 1, upstash: 1 })
      await expect
        .poll(() => logged.at(-1))
        .toMatchObject({ status: 200, subrequests: { neon: 1, upstash: 1 } })
    })

    test('is 405 for other methods, without a key', async () => {
      const allowed = call.method ?? 'GET, HEAD'
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        if (allowed.includes(method)) continue
        const answer = await ask(path, { method })
        expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, allowed])
        if (method !== 'HEAD') expectShareError(answer, 405, 'METHOD_NOT_ALLOWED')
      }
    })
  })

  test('a body of unknown length that is too large is 400, and 401 with another key', async () => {
    const path = `${tablePath('brands')}/query`
    const send = (body: BodyInit, key = its.key) =>
      // The service answers before it has read the body, and then ends the connection: no later request may use it.
      ask(path, { key, method: 'POST', body, headers: { Connection: 'close' } })
    const large = () => new Blob([`{"predicateHints":["${'x'.repeat(262_144)}"]}`]).stream()
    malformed(await send(large()))
    unauthenticated(await send(large(), `${its.key}0`))
    const hints = JSON.stringify({ predicateHints: ['x'.repeat(65_000)] })
    for (const small of [new Blob(['{"limitHint":', '1}']).stream(), hints, ''])
      expect((await send(small)).status).toBe(200)
  })

  test('a client over its budget is 429, whatever its key', async () => {
    const headers = { ...(await clientWith(0, service)), Authorization: 'Bearer none' }
    const over = await ask('/shares', { headers })
    expectShareError(over, 429, 'RESOURCE_EXHAUSTED')
    expect(over.headers.get('Retry-After')).toMatch(/^([1-9]|1[0-2])$/)
  })

  test('other names and paths are 404, in each spelling', async () => {
    const { key } = its
    for (const path of [
      '/',
      '/shares/',
      '/shares/other',
      '/shares/export%00',
      '/shares/%ff',
      '/shares/export/schemas/other/tables/brands/version',
      `${tablePath('changes')}/version`,
      `${tablePath('citation-share')}/version`,
      `${tablePath('constructor')}/metadata`,
      `${tablePath('brands%00')}/changes?startingVersion=2147483647`,
    ])
      missing(await ask(path, { key }))
    for (const name of ['other', '%00', '%ff', '%e2%84%aa'])
      missing(await ask(`${tablePath(name)}/query`, { key, method: 'POST', body: '{}' }))
  })

  test('names are case-insensitive and may be percent-encoded', async () => {
    const path = '/shares/EXPORT/schemas/Metrics/tables/%42rands'
    expect((await ask(`${path}/query`, { key: its.key, method: 'POST' })).lines).toHaveLength(3)
  })

  test('lists name the share, the schema and the tables, in pages', async () => {
    const { key } = its
    const list = async (path: string) => JSON.parse((await ask(path, { key })).text)
    expect(await list('/shares')).toEqual({ items: [{ name: 'export' }] })
    expect(await list('/shares/export/schemas')).toEqual({ items: [{ name: 'metrics', share: 'export' }] })
    for (const path of ['/shares/export/schemas/metrics/tables', '/shares/export/all-tables']) {
      const names = STREAMS.map(({ name }) => name).sort()
      const items = names.map((name) => ({ name, schema: 'metrics', share: 'export' }))
      expect(await list(path)).toEqual({ items })
      expect(await list(`${path}?maxResults=2&pageToken=5`)).toEqual({ items: items.slice(5) })
    }
  })

  test('the metadata of a table has the fields of its endpoint after brand_id', async () => {
    for (const { name, columns } of STREAMS) {
      const { lines, version } = await ask(`${tablePath(name)}/metadata`, { key: its.key })
      expect(version).toBeGreaterThan(0)
      const files = objectsOf(await query(its.key, name))
      const sent = columns.filter(({ field }) => field !== 'brand_id')
      const fields = [{ field: 'brand_id', type: 'string' }, ...sent].map(({ field, type }) => {
        return { name: field, type: TYPES[type] ?? 'string', nullable: true, metadata: {} }
      })
      expect(lines).toEqual([
        { protocol: { minReaderVersion: 1 } },
        {
          metaData: {
            id: `export.metrics.${name}`,
            format: { provider: 'parquet' },
            schemaString: JSON.stringify({ type: 'struct', fields }),
            partitionColumns: [],
            configuration: { enableChangeDataFeed: 'true' },
            size: files.reduce((sum, { size }) => sum + size, 0),
            numFiles: files.length,
          },
        },
      ])
    }
  })

  test('a table has the active brands that the key reads', async () => {
    const mine = await tenant(db)
    const second = await brand(db, mine.org, { name: 'Second' })
    const inactive = await brand(db, mine.org, { name: 'Inactive', active: false })
    const one = await exportKey(db, mine.org, { brand_ids: [second, inactive, its.brandId] })
    const none = await exportKey(db, mine.org, { brand_ids: [] })
    await refresh(db)
    await publish()
    const brandsOf = async ({ key }: { key: string }, body = {}) =>
      (await rowsOf(await query(key, 'brands', body))).map(({ id }) => id).sort()
    expect(await brandsOf(mine)).toEqual([mine.brandId, second].sort())
    expect(await brandsOf(one)).toEqual([second])
    expect(await brandsOf(none)).toEqual([])
    expect(await brandsOf(mine, { predicateHints: [`brand_id = '${its.brandId}'`] })).toEqual([])

    await db.query('update brands set active = not active where organization_id = $1', [mine.org.id])
    expect(await brandsOf(mine), 'at once, without a version').toEqual([inactive])
  })
})
