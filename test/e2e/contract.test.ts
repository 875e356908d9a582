import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { activeKey } from '../../lib/access/access.ts'
import { renderStatement } from '../../lib/database/statement.ts'
import { ERRORS } from '../../lib/request/errors.ts'
import { type Answer, call } from '../fixtures/call.ts'
import { findEndpoints, hasRowsOfBrand } from '../fixtures/endpoints.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { brand, database, exportKey } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const endpoints = await findEndpoints()
const paged = endpoints.filter(hasRowsOfBrand)
const brands = endpoints.filter(({ kind }) => kind === 'brands')
const BROKEN = { brandId: 'no-uuid', fromDate: '2026-02-30', cursor: '?', format: 'xml' }

// All paged endpoints run the same code: one gets the whole suite, and all get the next ones.
describe.each(endpoints.filter(({ name }) => ['visibility', 'brands'].includes(name)))('GET $path', ({
  path,
  kind,
}) => {
  const isBrands = kind === 'brands'
  const queryOf = (brandId: string) => (isBrands ? {} : { brandId })

  const read = ({ key, brandId }: Pick<Tenant, 'key' | 'brandId'>): Promise<Answer> =>
    call(path, { key, query: queryOf(brandId) })

  /** The status of a brand's page, or for /brands 404 when the brand is not listed. */
  async function outcome(reader: Pick<Tenant, 'key' | 'brandId'>): Promise<number> {
    const { status, data } = await read(reader)
    if (!isBrands || status !== 200) return status
    return data.some(({ id }) => id === reader.brandId) ? 200 : 404
  }

  // Every malformed key: test/unit/api-key.test.ts.
  test('checks the key before the plan, and the plan before the parameters and the brand', async () => {
    const foreign = { brandId: (await tenant(db)).brandId }
    const [lite, revoked] = [
      await tenant(db, { plan: 'lite' }),
      await tenant(db, { plan: 'lite', key: { revoked_at: new Date() } }),
    ]
    const unknown = `svc_live_${randomBytes(32).toString('hex')}`
    for (const query of [BROKEN, foreign, {}]) {
      for (const key of [undefined, 'bad', unknown, revoked.key])
        expectError(await call(path, { key, query }), 401)
      expectError(await call(path, { key: lite.key, query }), 403)
    }
  })

  test('returns 404 with the same body and headers for every brand that the key does not read', async () => {
    const { org, key, brandId } = await tenant(db)
    const inactive = await brand(db, org, { active: false })
    const other = await brand(db, org)
    const { brandId: foreign } = await tenant(db)
    const { key: limited } = await exportKey(db, org, { brand_ids: [brandId, inactive, foreign] })
    const { key: none } = await exportKey(db, org, { brand_ids: [] })
    for (const reader of [
      { key, brandId },
      { key, brandId: other },
      { key: limited, brandId },
    ])
      expect(await outcome(reader)).toBe(200)

    const causes = [
      { key, brandId: randomUUID() },
      { key, brandId: inactive },
      { key, brandId: foreign },
      { key: limited, brandId: other },
      { key: limited, brandId: inactive },
      { key: limited, brandId: foreign },
      { key: none, brandId },
    ]
    for (const cause of causes) expect(await outcome(cause)).toBe(404)
    if (isBrands) return
    // Headers too, except what the clock, the request's id and the client's own budget put into them.
    const comparable = ({ text, headers }: Answer) =>
      JSON.stringify([
        text,
        [...headers].filter(([name]) => !/^(date|ratelimit|server-timing|x-request-id)$/.test(name)),
      ])
    expect(new Set((await Promise.all(causes.map(read))).map(comparable)).size).toBe(1)
  })

  type Step = readonly [sql: string, status: 200 | 401 | 403 | 404]
  const ROLE = 'update memberships set role ='
  const PLAN = 'update subscriptions set'
  const KEY = 'update api_keys set'

  test.each<[string, ...Step[]]>([
    [
      'the creator’s role',
      [`${ROLE} 'member' where organization_id = $org`, 401],
      [`${ROLE} 'admin' where organization_id = $org`, 200],
      ['delete from memberships where organization_id = $org', 401],
    ],
    [
      'a creator of another organization',
      [
        `${KEY} created_by = (select user_id from memberships where organization_id <> $org limit 1) where id = $key`,
        401,
      ],
    ],
    ['revocation', [`${KEY} revoked_at = now() where id = $key`, 401]],
    ['expiry', [`${KEY} expires_at = now() - interval '1 second' where id = $key`, 401]],
    ['the scope', [`${KEY} scope = 'tools' where id = $key`, 401]],
    [
      'the plan',
      [`${PLAN} status = 'canceled' where organization_id = $org`, 403],
      [`${PLAN} status = 'past_due' where organization_id = $org`, 403],
      [`${PLAN} status = 'active', plan = 'pro' where organization_id = $org`, 200],
      [`${PLAN} plan = 'lite' where organization_id = $org`, 403],
      [`${PLAN} plan = 'agency' where organization_id = $org`, 200],
      ['delete from subscriptions where organization_id = $org', 403],
    ],
    [
      'the brand',
      ['update brands set active = false where id = $brand', 404],
      ['update brands set active = true where id = $brand', 200],
      [
        `update brands set organization_id = (select id from organizations where id <> $org limit 1) where id = $brand`,
        404,
      ],
    ],
    [
      'the key’s list of brands',
      [`${KEY} brand_ids = array[gen_random_uuid()] where id = $key`, 404],
      [`${KEY} brand_ids = array[gen_random_uuid(), $brand] where id = $key`, 200],
      [`${KEY} brand_ids = '{}' where id = $key`, 404],
      [`${KEY} brand_ids = null where id = $key`, 200],
    ],
  ])('a change of the organization’s state affects the next request: %s', async (_, ...steps) => {
    const its = await tenant(db)
    expect(await outcome(its)).toBe(200)
    for (const [sql, status] of steps) {
      const ids: Record<string, string> = { $org: its.org.id, $key: its.keyId, $brand: its.brandId }
      await db.query(sql.replace(/\$\w+/g, (name) => `'${ids[name]}'::uuid`))
      expect(await outcome(its), sql).toBe(status)
      const { error } = await read(its)
      if (status === 401) expect(error).toBe(ERRORS.key.message)
      if (status === 403) expect(error).toBe(ERRORS.plan.message)
    }
  })
})

test('a key stops to work at its expiry to the millisecond', async () => {
  const { key } = await tenant(db, { key: { expires_at: '2026-10-01T12:00:00.000Z' } })
  const { sql, parameters } = renderStatement(activeKey)
  expect(parameters).toEqual(['key_hash', 'now'])
  const hash = createHash('sha256').update(key).digest('hex')
  const isActive = async (now: string) => (await db.query(sql, [hash, now])).rowCount === 1
  expect(await isActive('2026-10-01T11:59:59.999Z')).toBe(true)
  expect(await isActive('2026-10-01T12:00:00.000Z')).toBe(false)
})

test.each(brands)('$path returns data alone, and ignores every other parameter', async ({ path, row }) => {
  const { key, brandId } = await tenant(db)
  const query = 'brandId=x&brandId=y&fromDate=2026-02-30&toDate=&cursor=%00&page=2'
  const answer = await call(`${path}?${query}`, { key })
  expect(answer.headers.get('Content-Type')).toBe('application/json')
  expect(Object.keys(JSON.parse(answer.text))).toEqual(['data'])
  expect(answer.data.map(({ id }) => id)).toEqual([brandId])
  expect(answer.data.map(Object.keys)).toEqual([Object.keys(row.shape)])
  for (const listed of answer.data) row.parse(listed)
})

test.each(paged)('$path returns data, pagination and meta: every field, and no row of another brand', async ({
  name,
  path,
  row,
}) => {
  const [its, other] = [await tenant(db), await tenant(db)]
  await fillDaily(db, { name, brandId: its.brandId, rows: 3, first: '2026-10-01', days: 3 })
  await fillDaily(db, { name, brandId: other.brandId, rows: 5, first: '2026-10-01', days: 5 })
  const query = { brandId: its.brandId.toUpperCase(), fromDate: '2026-10-01', toDate: '2026-10-09' }
  const answer = await call(path, { key: its.key, query })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toBe('application/json')
  expect(Object.keys(JSON.parse(answer.text))).toEqual(['data', 'pagination', 'meta'])
  expect(answer.pagination).toEqual({ pageSize: 1000, hasMore: false, nextCursor: null })
  expect(answer.meta).toEqual({
    brandId: its.brandId,
    fromDate: '2026-10-01T00:00:00.000Z',
    toDate: '2026-10-09T23:59:59.999Z',
    plan: 'enterprise',
  })
  expect(answer.data.map(({ date }) => date)).toEqual(['2026-10-01', '2026-10-02', '2026-10-03'])
  for (const served of answer.data) {
    expect(Object.keys(served)).toEqual(Object.keys(row.shape))
    row.parse(served)
  }
})

// Paths of one Worker: test/unit/app.test.ts.
test.each([
  ...['/api/export/v1', '/api/export/v2/brands', '/favicon.ico', '//'],
  ...['/docsx', '/docs/x', '/api/export/v1/docs/x', '/api/export/v1/docsx'],
])('returns 404 in JSON for %s', async (path) => {
  const fromRoot = `/../../..${path}`
  expectError(await call(fromRoot), 404)
  expectError(await call(fromRoot, { method: 'POST' }), 404)
})
