import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Answer, call } from '../support/call.ts'
import { fillDaily } from '../support/daily.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { expectError } from '../support/refusal.ts'
import { type Tenant, type Terms, tenant } from '../support/tenant.ts'
import { brand, database, exportKey, insert, organization } from '../support/world.ts'

const db = database()
const endpoints = await findEndpoints()
const hex = (digits: number) => randomBytes(40).toString('hex').slice(0, digits)

test('finds the listing and the six metrics', () => {
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

describe.each(endpoints)('GET $path', ({ path, paged }) => {
  const queryOf = (brandId: string) => (paged ? { brandId } : {})

  const read = ({ key, brandId }: Pick<Tenant, 'key' | 'brandId'>): Promise<Answer> =>
    call(path, { key, query: queryOf(brandId) })

  /** What a key gets of a brand: its page's status, or for a listing 404 when it is not listed. */
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
    ])('answers %s with 404, whatever the key is', async (other) => {
      expectError(await call(other), 404)
    })

    test.each([
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
    ])('answers %s with 405 and Allow', async (method) => {
      const answer = await call(path, { method })
      expectError(answer, 405)
      expect(answer.headers.get('Allow')).toBe('GET, HEAD')
    })

    test('answers HEAD as GET, without a body', async () => {
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
    test('answers every cause of 401 with the same body', async () => {
      const { org, brandId, key } = await tenant(db)
      const past = new Date(Date.now() - 1)
      const { key: revoked } = await exportKey(db, org, { revoked_at: past })
      const { key: expired } = await exportKey(db, org, { expires_at: past })
      const { key: tools } = await exportKey(db, org, { scope: 'tools' })

      const [member, gone, admin] = [randomUUID(), randomUUID(), randomUUID()]
      await insert(
        db,
        'users',
        [member, gone, admin].map((id) => ({ id, email: `${id}@mail.example` })),
      )
      await insert(db, 'memberships', [
        { organization_id: org.id, user_id: member, role: 'member' },
        { organization_id: org.id, user_id: admin, role: 'admin' },
      ])
      const { key: membersKey } = await exportKey(db, { ...org, owner: member })
      const { key: leaversKey } = await exportKey(db, { ...org, owner: gone })
      const stranger = await organization(db)
      const { key: strangersKey } = await exportKey(db, { ...org, owner: stranger.owner })
      const { key: adminsKey } = await exportKey(db, { ...org, owner: admin })

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
        'made by a member': membersKey,
        'made by somebody who left': leaversKey,
        'made by an owner of another organization': strangersKey,
      }
      expect(await outcome({ key, brandId })).toBe(200)
      expect(await outcome({ key: adminsKey, brandId })).toBe(200)

      const bodies = new Set<string>()
      for (const [cause, presented] of Object.entries(causes)) {
        const answer = await call(path, { key: presented, query: queryOf(brandId) })
        expect(answer.status, cause).toBe(401)
        expectError(answer, 401)
        bodies.add(answer.text)
      }
      expect(bodies.size).toBe(1)
    })

    test('is taken from X-API-Key alone', async () => {
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
    ])('answers %s with 403', async (_, terms) => {
      expectError(await read(await tenant(db, terms)), 403)
    })

    test.each(['pro', 'agency', 'enterprise'])('reads with the %s plan', async (plan) => {
      expect(await outcome(await tenant(db, { plan }))).toBe(200)
    })
  })

  describe('what a key may read', () => {
    test('tells nobody why a brand cannot be read', async () => {
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
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    })
  })

  describe('a change of the organization’s state acts on the next request', () => {
    test('when the creator loses the role, and gets it back', async () => {
      const its = await tenant(db)
      const setRole = (role: string) =>
        db.query('update memberships set role = $1 where organization_id = $2', [role, its.org.id])
      const seen = [await outcome(its)]
      await setRole('member')
      seen.push(await outcome(its))
      await setRole('admin')
      seen.push(await outcome(its))
      await db.query('delete from memberships where organization_id = $1', [its.org.id])
      seen.push(await outcome(its))
      expect(seen).toEqual([200, 401, 200, 401])
    })

    test('when the key is revoked or expires', async () => {
      const [revoked, expired] = [await tenant(db), await tenant(db)]
      const seen = [await outcome(revoked), await outcome(expired)]
      await db.query('update api_keys set revoked_at = now() where id = $1', [revoked.keyId])
      await db.query('update api_keys set expires_at = $1 where id = $2', [new Date(), expired.keyId])
      seen.push(await outcome(revoked), await outcome(expired))
      expect(seen).toEqual([200, 200, 401, 401])
    })

    test('when the plan is canceled, lowered or dropped', async () => {
      const its = await tenant(db)
      const set = (assignment: string) =>
        db.query(`update subscriptions set ${assignment} where organization_id = $1`, [its.org.id])
      const seen = [await outcome(its)]
      await set(`status = 'canceled'`)
      seen.push(await outcome(its))
      await set(`status = 'active', plan = 'pro'`)
      seen.push(await outcome(its))
      await set(`plan = 'lite'`)
      seen.push(await outcome(its))
      await set(`plan = 'agency'`)
      seen.push(await outcome(its))
      await db.query('delete from subscriptions where organization_id = $1', [its.org.id])
      seen.push(await outcome(its))
      expect(seen).toEqual([200, 403, 200, 403, 200, 403])
    })

    test('when the brand is switched off, and on again', async () => {
      const its = await tenant(db)
      const setActive = (active: boolean) =>
        db.query('update brands set active = $1 where id = $2', [active, its.brandId])
      const seen = [await outcome(its)]
      await setActive(false)
      seen.push(await outcome(its))
      await setActive(true)
      seen.push(await outcome(its))
      expect(seen).toEqual([200, 404, 200])
    })

    test('when the key’s list of brands changes', async () => {
      const its = await tenant(db)
      const setList = (ids: readonly string[] | null) =>
        db.query('update api_keys set brand_ids = $1 where id = $2', [ids, its.keyId])
      const seen = [await outcome(its)]
      await setList([randomUUID()])
      seen.push(await outcome(its))
      await setList([randomUUID(), its.brandId])
      seen.push(await outcome(its))
      await setList([])
      seen.push(await outcome(its))
      await setList(null)
      seen.push(await outcome(its))
      expect(seen).toEqual([200, 404, 200, 404, 200])
    })
  })

  describe('an earlier gate answers for the later ones', () => {
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

describe.each(endpoints.filter(({ paged }) => !paged))('GET $path', ({ path, row }) => {
  test('ignores every parameter', async () => {
    const { key, brandId } = await tenant(db)
    const answer = await call(`${path}?brandId=x&brandId=y&fromDate=2026-02-30&toDate=&cursor=%00&page=2`, {
      key,
    })
    expect([answer.status, answer.data.map(({ id }) => id)]).toEqual([200, [brandId]])
  })

  test('answers with data alone', async () => {
    const answer = await call(path, await tenant(db))
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['data'])
    expect(answer.data.map(Object.keys)).toEqual([Object.keys(row.shape)])
    for (const listed of answer.data) row.parse(listed)
  })
})

describe.each(endpoints.filter(({ paged }) => paged))('GET $path', ({ name, path, row }) => {
  describe('parameters', () => {
    const malformed: readonly (readonly [name: string, value: string])[] = [
      ...[
        '',
        'acme',
        '11111111-1111-1111-1111-11111111111',
        '11111111-1111-1111-1111-1111111111111',
        '11111111111111111111111111111111',
        '{11111111-1111-1111-1111-111111111111}',
        ' 11111111-1111-1111-1111-111111111111',
        '11111111-1111-1111-1111-111111111111\n',
        '11111111-1111-1111-1111-11111111111g',
        '11111111-1111-1111-1111-11111111111\0',
        "' or true --",
      ].map((value) => ['brandId', value] as const),
      ...['fromDate', 'toDate'].flatMap((date) =>
        [
          '',
          '2026-02-30',
          '2023-02-29',
          '1900-02-29',
          '2026-13-01',
          '2026-00-10',
          '2026-01-00',
          '2026-04-31',
          '20260201',
          '2026-1-1',
          '26-01-01',
          '0000-01-01',
          '10000-01-01',
          '+010000-01-01',
          '-0001-01-01',
          ' 2026-01-01',
          '2026-01-01 ',
          '2026-01-01\n',
          '2026-01-01\0',
          '2026-01-01T00:00:00Z',
          '2026/01/01',
          '01-02-2026',
          '２０２６-01-01',
          'infinity',
          '-infinity',
          'now',
          'today',
          'yesterday',
          'epoch',
          'null',
        ].map((value) => [date, value] as const),
      ),
      ...[
        '',
        'c',
        'x',
        'null',
        'cAAAA',
        `c${'A'.repeat(4000)}`,
        '%',
        'c\0',
        '😀',
        "c' or true --",
        '0',
        '[]',
      ].map((value) => ['cursor', value] as const),
    ]

    test('that are malformed are 400, and the sentence names the parameter', async () => {
      const { key, brandId } = await tenant(db)
      for (const [parameter, value] of malformed) {
        const answer = await call(path, { key, query: { brandId, [parameter]: value } })
        expect(answer.status, `${parameter}=${JSON.stringify(value)}`).toBe(400)
        expectError(answer, 400)
        expect(answer.error).toContain(parameter)
      }
    })

    test('that are given twice are malformed, even with the same value', async () => {
      const { key, brandId } = await tenant(db)
      const values = { fromDate: '2026-10-01', toDate: '2026-10-02', cursor: 'c' }
      for (const [parameter, value] of Object.entries(values)) {
        const answer = await call(`${path}?brandId=${brandId}&${parameter}=${value}&${parameter}=${value}`, {
          key,
        })
        expectError(answer, 400)
        expect(answer.error).toContain(parameter)
      }
      const twice = await call(`${path}?brandId=${brandId}&brandId=${brandId}`, { key })
      expectError(twice, 400)
      expect(twice.error).toContain('brandId')
      expectError(await call(`${path}?brandId=${brandId}&toDate=2026-10-02&toDate=`, { key }), 400)
    })

    test('need a brandId', async () => {
      const { key, brandId } = await tenant(db)
      for (const query of [{}, { brandid: brandId }, { brand_id: brandId }]) {
        const answer = await call(path, { key, query })
        expectError(answer, 400)
        expect(answer.error).toContain('brandId')
      }
    })

    test('must not start after they end', async () => {
      const { key, brandId } = await tenant(db)
      const query = { brandId, fromDate: '2026-10-02', toDate: '2026-10-01' }
      const answer = await call(path, { key, query })
      expectError(answer, 400)
      expect(answer.error).toMatch(/fromDate.*toDate/)
      expect((await call(path, { key, query: { ...query, toDate: '2026-10-02' } })).status).toBe(200)
    })

    test('that are malformed are told before a brand that cannot be read', async () => {
      const { key } = await tenant(db)
      const { brandId } = await tenant(db)
      expectError(await call(path, { key, query: { brandId } }), 404)
      for (const query of [{ fromDate: '2026-02-30' }, { toDate: '' }, { cursor: 'c' }]) {
        expectError(await call(path, { key, query: { brandId, ...query } }), 400)
      }
    })

    test('that nobody knows are ignored', async () => {
      const { key, brandId } = await tenant(db)
      const answer = await call(
        `${path}?brandId=${brandId}&limit=5&limit=6&FROMDATE=x&from_date=y&__proto__=z`,
        { key },
      )
      expect([answer.status, answer.pagination.pageSize]).toEqual([200, 1000])
    })

    test('take a brandId in either case, and dates of every year', async () => {
      const { key, brandId } = await tenant(db)
      const uppercase = await call(path, { key, query: { brandId: brandId.toUpperCase() } })
      expect([uppercase.status, uppercase.meta.brandId]).toEqual([200, brandId])
      for (const dates of [
        { fromDate: '0001-01-01', toDate: '9999-12-31' },
        { fromDate: '0001-01-01', toDate: '0001-01-01' },
        { fromDate: '9999-12-31', toDate: '9999-12-31' },
        { fromDate: '2024-02-29', toDate: '2024-02-29' },
        { fromDate: '2000-02-29', toDate: '2000-02-29' },
      ]) {
        const answer = await call(path, { key, query: { brandId, ...dates } })
        expect([answer.status, answer.data]).toEqual([200, []])
        expect(answer.meta).toMatchObject({
          fromDate: `${dates.fromDate}T00:00:00.000Z`,
          toDate: `${dates.toDate}T23:59:59.999Z`,
        })
      }
    })
  })

  test('answers with data, pagination and meta: each field of a row, and none of another brand', async () => {
    const [its, other] = [await tenant(db), await tenant(db)]
    await fillDaily(db, { name, brandId: its.brandId, rows: 3, first: '2026-10-01', days: 3 })
    await fillDaily(db, { name, brandId: other.brandId, rows: 5, first: '2026-10-01', days: 5 })
    const query = { brandId: its.brandId, fromDate: '2026-10-01', toDate: '2026-10-09' }
    const answer = await call(path, { key: its.key, query })
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['data', 'pagination', 'meta'])
    expect(answer.pagination).toEqual({ pageSize: 1000, hasMore: false, nextCursor: null })
    expect(answer.data.map(({ date }) => date)).toEqual(['2026-10-01', '2026-10-02', '2026-10-03'])
    for (const served of answer.data) {
      expect(Object.keys(served)).toEqual(Object.keys(row.shape))
      row.parse(served)
    }
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
])('answers %s, where there is nothing, with 404 in JSON', async (path) => {
  const fromRoot = `/../../..${path}`
  expectError(await call(fromRoot), 404)
  expectError(await call(fromRoot, { method: 'POST' }), 404)
})
