import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PARAMETER_ERRORS } from '../../lib/errors.ts'
import { type Answer, call } from '../support/call.ts'
import { fillDaily } from '../support/daily.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { expectError } from '../support/expect-error.ts'
import { type Tenant, type Terms, tenant } from '../support/tenant.ts'
import { brand, database, exportKey, insert, organization } from '../support/world.ts'

const db = database()
const endpoints = await findEndpoints()
const metrics = endpoints.filter(({ paged }) => paged)
const listings = endpoints.filter(({ paged }) => !paged)
// Every metric runs the same code: one gets the whole suite, the others a smoke test of each part.
const [metric, ...otherMetrics] = metrics.toSorted((one) => (one.name === 'visibility' ? -1 : 1))
if (metric === undefined) throw new Error('No endpoint is paged')
const hex = (digits: number) => randomBytes(40).toString('hex').slice(0, digits)

test('the listing and the six metrics are found', () => {
  expect(endpoints.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/brands',
      '/visibility',
      '/citations',
      '/competitors',
      '/citation-share',
      '/sentiment',
      '/recommended-rate',
    ]),
  )
})

describe.each([metric, ...listings])('GET $path', ({ path, paged }) => {
  const queryOf = (brandId: string) => (paged ? { brandId } : {})

  const read = ({ key, brandId }: Pick<Tenant, 'key' | 'brandId'>): Promise<Answer> =>
    call(path, { key, query: queryOf(brandId) })

  /** The status of a brand's page, or for a listing 404 when the brand is not listed. */
  async function outcome(reader: Pick<Tenant, 'key' | 'brandId'>): Promise<number> {
    const { status, data } = await read(reader)
    if (paged || status !== 200) return status
    return data.some(({ id }) => id === reader.brandId) ? 200 : 404
  }

  const only = (text: string, terms?: Terms) => [text, terms] as const

  describe('the path and the method', () => {
    test.each([
      `${path}/`,
      `${path}x`,
      `${path}/x`,
      path.toUpperCase(),
      `/${path}`,
      `${path}.json`,
    ])('returns 404 for %s, whatever the key is', async (other) => {
      expectError(await call(other), 404)
    })

    test.each([
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
    ])('returns 405 with Allow for %s', async (method) => {
      const answer = await call(path, { method })
      expectError(answer, 405)
      expect(answer.headers.get('Allow')).toBe('GET, HEAD')
    })

    test('returns the headers of GET for HEAD, without a body', async () => {
      const { key, brandId } = await tenant(db)
      const get = await call(path, { key, query: queryOf(brandId) })
      const head = await call(path, { key, query: queryOf(brandId), method: 'HEAD' })
      expect([get.status, head.status]).toEqual([200, 200])
      expect(get.text).not.toBe('')
      expect(head.text).toBe('')
      expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'))

      const refused = await call(path, { method: 'HEAD' })
      expect([refused.status, refused.text]).toEqual([401, ''])
    })
  })

  describe('the key', () => {
    test('returns 401 with the same body for every cause', async () => {
      const { org, brandId, key } = await tenant(db)
      const past = new Date(Date.now() - 1)
      const { key: revoked } = await exportKey(db, org, { revoked_at: past })
      const { key: expired } = await exportKey(db, org, { expires_at: past })
      const { key: tools } = await exportKey(db, org, { scope: 'tools' })

      const keyOf = async (role: string | null) => {
        const owner = randomUUID()
        await insert(db, 'users', [{ id: owner, email: `${owner}@mail.example` }])
        if (role !== null)
          await insert(db, 'memberships', [{ organization_id: org.id, user_id: owner, role }])
        return (await exportKey(db, { ...org, owner })).key
      }
      const stranger = await organization(db)

      const digits = key.slice('svc_live_'.length)
      const causes = {
        missing: undefined,
        empty: '',
        unknown: `svc_live_${hex(64)}`,
        'uppercase digits': `svc_live_${digits.toUpperCase().replace(/[0-9]/g, 'A')}`,
        'the key in uppercase': key.toUpperCase(),
        '63 digits': key.slice(0, -1),
        '65 digits': `${key}0`,
        'another prefix': `svc_test_${digits}`,
        'no prefix': digits,
        'a space within': `svc_live_ ${digits}`,
        'a scheme ahead': `Bearer ${key}`,
        'the key twice': `${key}, ${key}`,
        'no hex digit': `svc_live_${'g'.repeat(64)}`,
        quotes: `"${key}"`,
        revoked,
        expired,
        tools,
        'made by a member': await keyOf('member'),
        'made by a user who left': await keyOf(null),
        'made by an owner of another organization': (await exportKey(db, { ...org, owner: stranger.owner }))
          .key,
      }
      expect(await outcome({ key, brandId })).toBe(200)
      expect(await outcome({ key: await keyOf('admin'), brandId })).toBe(200)

      const bodies = new Set<string>()
      for (const [cause, presented] of Object.entries(causes)) {
        const answer = await call(path, { key: presented, query: queryOf(brandId) })
        expect(answer.status, cause).toBe(401)
        expectError(answer, 401)
        bodies.add(answer.text)
      }
      expect(bodies.size).toBe(1)
    })

    test('is read from X-API-Key alone', async () => {
      const { key, brandId } = await tenant(db)
      const query = queryOf(brandId)
      const elsewhere = [
        call(path, { query, headers: { Authorization: `Bearer ${key}` } }),
        call(path, { query: { ...query, 'X-API-Key': key, api_key: key } }),
        call(path, { query, headers: { Cookie: `X-API-Key=${key}; session=${key}` } }),
      ]
      for (const answer of await Promise.all(elsewhere)) expectError(answer, 401)
    })
  })

  describe('the plan', () => {
    test.each([
      only('a lite plan', { plan: 'lite' }),
      only('no subscription', { plan: null }),
      only('a plan that is past due', { status: 'past_due' }),
      only('a canceled plan', { status: 'canceled' }),
    ])('returns 403 for %s', async (_, terms) => {
      expectError(await read(await tenant(db, terms)), 403)
    })

    test.each(['pro', 'agency', 'enterprise'])('reads with the %s plan', async (plan) => {
      expect(await outcome(await tenant(db, { plan }))).toBe(200)
    })
  })

  describe('the brand', () => {
    test('returns 404 with the same body for every cause', async () => {
      const { org, key, brandId } = await tenant(db)
      const inactive = await brand(db, org, { active: false })
      const other = await brand(db, org)
      const { brandId: foreign } = await tenant(db)
      const { key: limited } = await exportKey(db, org, { brand_ids: [brandId, inactive, foreign] })
      const { key: none } = await exportKey(db, org, { brand_ids: [] })

      expect(await outcome({ key, brandId })).toBe(200)
      expect(await outcome({ key, brandId: other })).toBe(200)
      expect(await outcome({ key: limited, brandId })).toBe(200)

      const causes = [
        { key, brandId: randomUUID() },
        { key, brandId: '11111111-1111-1111-1111-111111111111' },
        { key, brandId: '00000000-0000-0000-0000-000000000000' },
        { key, brandId: inactive },
        { key, brandId: foreign },
        { key: limited, brandId: other },
        { key: limited, brandId: inactive },
        { key: limited, brandId: foreign },
        { key: none, brandId },
      ]
      for (const cause of causes) expect(await outcome(cause)).toBe(404)
      if (!paged) return
      const answers = await Promise.all(causes.map(read))
      for (const answer of answers) expectError(answer, 404)
      // Headers too, but for what the clock, the request's id and the client's own budget put into them.
      const comparable = ({ text, headers }: Answer) =>
        JSON.stringify([
          text,
          [...headers].filter(([name]) => !/^(date|ratelimit|server-timing|x-request-id)$/.test(name)),
        ])
      expect(new Set(answers.map(comparable)).size).toBe(1)
    })
  })

  describe('a change of the organization’s state affects the next request', () => {
    type Step = readonly [sql: string, status: number]
    const ROLE = 'update memberships set role ='
    const PLAN = 'update subscriptions set'
    const LIST = 'update api_keys set brand_ids ='

    test.each<[string, ...Step[]]>([
      [
        'the creator’s role',
        [`${ROLE} 'member' where organization_id = $org`, 401],
        [`${ROLE} 'admin' where organization_id = $org`, 200],
        ['delete from memberships where organization_id = $org', 401],
      ],
      ['revocation', ['update api_keys set revoked_at = now() where id = $key', 401]],
      ['expiry', ['update api_keys set expires_at = now() where id = $key', 401]],
      [
        'the plan',
        [`${PLAN} status = 'canceled' where organization_id = $org`, 403],
        [`${PLAN} status = 'active', plan = 'pro' where organization_id = $org`, 200],
        [`${PLAN} plan = 'lite' where organization_id = $org`, 403],
        [`${PLAN} plan = 'agency' where organization_id = $org`, 200],
        ['delete from subscriptions where organization_id = $org', 403],
      ],
      [
        'the brand',
        ['update brands set active = false where id = $brand', 404],
        ['update brands set active = true where id = $brand', 200],
      ],
      [
        'the key’s list of brands',
        [`${LIST} array[gen_random_uuid()] where id = $key`, 404],
        [`${LIST} array[gen_random_uuid(), $brand] where id = $key`, 200],
        [`${LIST} '{}' where id = $key`, 404],
        [`${LIST} null where id = $key`, 200],
      ],
    ])('%s', async (_, ...steps) => {
      const its = await tenant(db)
      expect(await outcome(its)).toBe(200)
      const ids = { $org: its.org.id, $key: its.keyId, $brand: its.brandId }
      for (const [sql, status] of steps) {
        const statement = Object.entries(ids).reduce(
          (text, [name, id]) => text.replace(name, `'${id}'::uuid`),
          sql,
        )
        await db.query(statement)
        expect(await outcome(its), sql).toBe(status)
      }
    })
  })

  describe('the order of checks', () => {
    const broken = { brandId: 'no-uuid', fromDate: '2026-02-30', cursor: '?' }

    test('the path and the method before the key', async () => {
      expectError(await call(`${path}/`, { key: 'bad', query: broken }), 404)
      expectError(await call(path, { key: 'bad', query: broken, method: 'POST' }), 405)
    })

    test('the key before the plan, the parameters and the brand', async () => {
      const lite = await tenant(db, { plan: 'lite', key: { revoked_at: new Date() } })
      const foreign = { brandId: (await tenant(db)).brandId }
      for (const query of [broken, foreign, {}]) {
        expectError(await call(path, { query }), 401)
        expectError(await call(path, { key: 'bad', query }), 401)
        expectError(await call(path, { key: lite.key, query }), 401)
      }
    })

    test('the plan before the parameters and the brand', async () => {
      const { key } = await tenant(db, { plan: 'lite' })
      const foreign = { brandId: (await tenant(db)).brandId }
      const { brandId } = foreign
      const queries = [broken, foreign, {}, { brandId, cursor: 'c' }, { brandId, toDate: '' }]
      for (const query of queries) expectError(await call(path, { key, query }), 403)
    })
  })
})

describe.each(listings)('GET $path', ({ path, row }) => {
  test('ignores every parameter', async () => {
    const { key, brandId } = await tenant(db)
    const answer = await call(`${path}?brandId=x&brandId=y&fromDate=2026-02-30&toDate=&cursor=%00&page=2`, {
      key,
    })
    expect([answer.status, answer.data.map(({ id }) => id)]).toEqual([200, [brandId]])
  })

  test('returns data alone', async () => {
    const answer = await call(path, await tenant(db))
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['data'])
    expect(answer.data.map(Object.keys)).toEqual([Object.keys(row.shape)])
    for (const listed of answer.data) row.parse(listed)
  })
})

/** A malformed value of each parameter; test/unit/parameters.test.ts has all that are. */
const MALFORMED = { brandId: 'acme', fromDate: '2026-02-30', toDate: '', cursor: 'c' }

describe(`the parameters of GET ${metric.path}`, () => {
  const read = (key: string, query: string | Record<string, string>) =>
    call(`${metric.path}?${new URLSearchParams(query)}`, { key })

  test.each(
    Object.entries(MALFORMED),
  )('returns 400 for a malformed %s, and names it', async (name, value) => {
    const { key, brandId } = await tenant(db)
    const answer = await read(key, { brandId, [name]: value })
    expectError(answer, 400)
    expect(answer.error).toContain(name)
  })

  test('returns 400 for a repeated parameter, a missing brandId, and a start after the end', async () => {
    const { key, brandId } = await tenant(db)
    const errors = {
      [PARAMETER_ERRORS.repeated('toDate')]: `brandId=${brandId}&toDate=2026-10-02&toDate=2026-10-02`,
      [PARAMETER_ERRORS.missing('brandId')]: `brandid=${brandId}`,
      [PARAMETER_ERRORS.order]: `brandId=${brandId}&fromDate=2026-10-02&toDate=2026-10-01`,
    }
    for (const [message, query] of Object.entries(errors)) {
      const answer = await read(key, query)
      expectError(answer, 400)
      expect(answer.error).toBe(message)
    }
  })

  test('are checked before the brand', async () => {
    const { key } = await tenant(db)
    const { brandId } = await tenant(db)
    expectError(await read(key, { brandId }), 404)
    expectError(await read(key, { brandId, fromDate: '2026-02-30' }), 400)
  })

  test('ignores unknown parameters', async () => {
    const { key, brandId } = await tenant(db)
    const answer = await read(key, `brandId=${brandId}&limit=5&limit=6&FROMDATE=x&from_date=y&__proto__=z`)
    expect([answer.status, answer.pagination.pageSize]).toEqual([200, 1000])
  })

  test('accepts a brandId in either case and dates of every year', async () => {
    const { key, brandId } = await tenant(db)
    for (const [fromDate, toDate] of [
      ['0001-01-01', '9999-12-31'],
      ['0001-01-01', '0001-01-01'],
      ['9999-12-31', '9999-12-31'],
    ] as const) {
      const answer = await read(key, { brandId: brandId.toUpperCase(), fromDate, toDate })
      expect([answer.status, answer.data]).toEqual([200, []])
      expect(answer.meta).toMatchObject({
        brandId,
        fromDate: `${fromDate}T00:00:00.000Z`,
        toDate: `${toDate}T23:59:59.999Z`,
      })
    }
  })
})

describe.each(metrics)('GET $path', ({ name, path, row }) => {
  test('returns data, pagination and meta: every field of a row, and no row of another brand', async () => {
    const [its, other] = [await tenant(db), await tenant(db)]
    await fillDaily(db, { name, brandId: its.brandId, rows: 3, first: '2026-10-01', days: 3 })
    await fillDaily(db, { name, brandId: other.brandId, rows: 5, first: '2026-10-01', days: 5 })
    const query = { brandId: its.brandId, fromDate: '2026-10-01', toDate: '2026-10-09' }
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
})

// A seam between two pages of each metric: test/e2e/paging.test.ts.
describe.each(otherMetrics)('GET $path', ({ path }) => {
  test('returns 401, 403, 400 and 404 like every metric', async () => {
    const [its, lite] = [await tenant(db), await tenant(db, { plan: 'lite' })]
    const { key, brandId } = its
    expectError(await call(path, { query: { brandId } }), 401)
    expectError(await call(path, { key: lite.key, query: { brandId } }), 403)
    expectError(await call(path, { key, query: { brandId, toDate: '2026-02-30' } }), 400)
    expectError(await call(path, { key, query: { brandId: lite.brandId } }), 404)
  })
})

describe('GET /openapi.json', () => {
  test('needs no key, and takes any', async () => {
    for (const key of [undefined, 'bad', `svc_live_${hex(64)}`]) {
      const answer = await call('/openapi.json', { key, query: { brandId: 'x', fromDate: 'y' } })
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json'])
      expect(JSON.parse(answer.text)).toMatchObject({
        openapi: expect.stringMatching(/^3\.1\./),
        info: { version: '1.0.0' },
      })
    }
  })

  test('describes every endpoint', async () => {
    const { text } = await call('/openapi.json')
    const paths = Object.keys(JSON.parse(text).paths)
    for (const { path } of endpoints)
      expect(paths.filter((described) => described.endsWith(path))).toHaveLength(1)
  })

  test('passes the gate of the path and the method', async () => {
    expectError(await call('/openapi.json/'), 404)
    expectError(await call('/OpenAPI.json'), 404)
    const answer = await call('/openapi.json', { method: 'POST' })
    expectError(answer, 405)
    expect(answer.headers.get('Allow')).toBe('GET, HEAD')
    const head = await call('/openapi.json', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
  })
})

test.each([
  '/',
  '/api',
  '/api/export/v1',
  '/api/export/v1/',
  '/api/export/v2/brands',
  '/api/export/V1/brands',
  '/favicon.ico',
])('returns 404 in JSON for %s', async (path) => {
  const fromRoot = `/../../..${path}`
  expectError(await call(fromRoot), 404)
  expectError(await call(fromRoot, { method: 'POST' }), 404)
})
