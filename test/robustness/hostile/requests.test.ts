import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { BASE } from '../../../lib/http/app.ts'
import { checkProperty, scaledTimeout } from '../../fixtures/effort.ts'
import { findEndpoints } from '../../fixtures/endpoints.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'
import { header, mostly, nasty, spoiled } from '../../hostile/queries.ts'
import { type RawRequest, type Received, send } from '../../hostile/raw-http.ts'
import { expectHarmless, rowsOf } from '../../hostile/response-checks.ts'
import { markBrand, marksOf } from '../../hostile/tagged-rows.ts'

const db = database()
const service = inject('serviceUrl')
const endpoints = await findEndpoints()

/** Requests that are sent side by side in one run of a property. */
const ABREAST = 12

/** Methods that workerd knows; it refuses others itself. */
const METHODS = 'POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE QUERY SEARCH LOCK'.split(' ')

const MARK = 1
/** Responses with rows. */
let served = 0
let home = { key: '', lite: '', brandId: '', foreign: '' }

beforeAll(async () => {
  const [its, other, lite] = [await tenant(db), await tenant(db), await tenant(db, { plan: 'lite' })]
  await markBrand(db, endpoints, { brandId: its.brandId, mark: MARK })
  await markBrand(db, endpoints, { brandId: other.brandId, mark: MARK + 1 })
  home = { key: its.key, lite: lite.key, brandId: its.brandId, foreign: other.brandId }
})

/** Sends a request as a caller of its own; the answer gives nothing away, and no row of another brand. */
async function ask(request: RawRequest): Promise<Received> {
  const { fields = [], method } = request
  const answer = await send(service, { ...request, fields: [['User-Agent', randomUUID()], ...fields] })
  if (answer === null) throw new Error('The connection was closed without an answer')
  expectHarmless(answer, method)
  if (answer.status === 200 && method !== 'HEAD') {
    const marks = marksOf(rowsOf(answer))
    expect(marks.filter((mark) => mark !== MARK)).toEqual([])
    if (marks.length > 0) served += 1
  }
  return answer
}

/**
 * A target as a Worker can receive it. workerd itself answers a target with bytes that are invalid in a URI (400), and one of more
 * than 65,534 bytes (414).
 */
const asUri = (target: string): string =>
  target.replace(/["<>`\x7f-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`).slice(0, 65_534)

const path = fc.constantFrom(...endpoints.map(({ path }) => path), '/openapi.json').map((path) => BASE + path)

const key = () =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(home.key) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(home.lite, '', 'bad', `svc_live_${randomBytes(32).toString('hex')}`),
    },
    { weight: 1, arbitrary: spoiled(home.key) },
  )

/** A query of parameters that are well-formed, spoiled, doubled, under other names, or none of ours. */
const query = () => {
  const name = (text: string) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(text) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(`${text}[]`, `${text}[0]`, `${text}%00`, `${text}+`, text.toUpperCase()),
      },
      { weight: 1, arbitrary: spoiled(text) },
    )
  const pair = (text: string, valid: string) =>
    fc.tuple(name(text), mostly(valid)).map((parts) => parts.join('='))
  const brand = fc.oneof(
    { weight: 5, arbitrary: pair('brandId', home.brandId) },
    { weight: 1, arbitrary: fc.constantFrom(home.foreign, randomUUID()).map((id) => `brandId=${id}`) },
    { weight: 1, arbitrary: fc.constantFrom('', 'brandId', `brandId=${home.brandId},${home.foreign}`) },
  )
  const others = fc.array(
    fc.oneof(
      pair('fromDate', '2026-10-01'),
      pair('toDate', '2026-11-01'),
      pair('since', '2026-10-01T04:31:07.123456Z'),
      pair('format', 'ndjson'),
      pair('format', 'csv'),
      pair('limit', '5'),
      fc.tuple(nasty, nasty).map((parts) => parts.join('=')),
      fc.constantFrom(
        `brandId=${home.foreign}`,
        'toDate=2026-02-30',
        'cursor=c',
        'cursor=',
        '&&',
        '=',
        '?',
        'fromDate=9999-12-31',
      ),
    ),
    { maxLength: 3 },
  )
  return fc.tuple(brand, others).map(([first, rest]) => [first, ...rest].join('&'))
}

const manner = () =>
  fc.record({
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant('GET') },
      { weight: 1, arbitrary: fc.constant('HEAD') },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    key: key(),
    others: fc.array(header, { maxLength: 3 }),
  })

type Manner = { method: string; key: string; others: RawRequest['fields'] }

const asRequest = (target: string, { method, key, others = [] }: Manner): RawRequest => ({
  method,
  target: asUri(target),
  fields: [['X-API-Key', key], ...others],
})

// Which status each malformed request has: test/unit/parameters.test.ts, test/unit/app.test.ts, test/e2e/contract.test.ts.
test('no request causes a 5xx, or reveals more than a fixed message', {
  timeout: scaledTimeout(300_000),
}, async () => {
  const paths = fc.oneof({ weight: 3, arbitrary: path }, { weight: 1, arbitrary: path.chain(spoiled) })
  const request = fc
    .tuple(paths, query(), manner())
    // The root leads to the reference page.
    .filter(([path]) => path.startsWith('/') && new URL(`http://service${asUri(path)}`).pathname !== '/')
    .map(([path, query, manner]) => asRequest(`${path}?${query}`, manner))
  const abreast = fc.array(request, { minLength: ABREAST, maxLength: ABREAST })
  const property = fc.asyncProperty(abreast, async (requests) => {
    await Promise.all(requests.map(ask))
  })
  await checkProperty(property, 150)
  expect(served).toBeGreaterThan(0)
})

test('a key that is sent twice is not accepted', async () => {
  const field = ['X-API-Key', home.key] as const
  for (const [status, fields] of [
    [200, [field]],
    [401, [field, field]],
  ] as const)
    expect((await ask({ target: `${BASE}/brands`, fields })).status).toBe(status)
})
