import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { BASE } from '../../../lib/http/app.ts'
import { ERRORS, PARAMETER_ERRORS } from '../../../lib/request/errors.ts'
import type { Row } from '../../fixtures/call.ts'
import { daysAgo } from '../../fixtures/clock.ts'
import { checkProperty, scaledTimeout } from '../../fixtures/effort.ts'
import { findEndpoints, hasRowsOfBrand } from '../../fixtures/endpoints.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'
import { header, mostly, nasty, spoiled } from '../../hostile/queries.ts'
import { fieldOf, type RawRequest, type Received, send } from '../../hostile/raw-http.ts'

const db = database()
const service = inject('serviceUrl')
const endpoints = await findEndpoints()

/** Requests that are sent side by side in one run of a property. */
const ABREAST = 12

/** Methods that workerd knows; it refuses others itself. */
const METHODS = 'POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE QUERY SEARCH LOCK'.split(' ')

const STRIDE = 10_000

/** Writes rows of four days into every stored table, each with the brand's mark in its numbers and texts. */
async function markBrand(brandId: string, mark: number): Promise<void> {
  for (const { name } of endpoints.filter(hasRowsOfBrand))
    await fillDaily(db, { name, brandId, rows: 4, first: daysAgo(3), days: 4, from: mark * STRIDE })
}

const isMarked = (value: Row[string]): boolean => Number.isInteger(value) || /^row \d+$/.test(String(value))

/** The marks of a page's rows: one for each value that carries one, so that a row put together from two shows both. */
const marksOf = (rows: readonly Row[]): number[] =>
  rows.flatMap((row) =>
    Object.values(row)
      .filter(isMarked)
      .map((value) => Math.floor(Number(String(value).replace('row ', '')) / STRIDE)),
  )

const MARK = 1
/** Responses with rows. */
let served = 0
let home = { key: '', lite: '', brandId: '', foreign: '' }

beforeAll(async () => {
  const [its, other, lite] = [await tenant(db), await tenant(db), await tenant(db, { plan: 'lite' })]
  await markBrand(its.brandId, MARK)
  await markBrand(other.brandId, MARK + 1)
  home = { key: its.key, lite: lite.key, brandId: its.brandId, foreign: other.brandId }
})

const PARAMETERS = ['brandId', 'since', 'fromDate', 'toDate', 'cursor', 'format']

/** Every message of an error. They are fixed, so none can quote a request or internals. */
const SENTENCES = new Set<string>([
  'Method not allowed. Use GET or HEAD.',
  ...Object.values(ERRORS).map(({ message }) => message),
  ...Object.values(PARAMETER_ERRORS).flatMap((sentence) =>
    typeof sentence === 'string' ? [sentence] : PARAMETERS.map(sentence),
  ),
])

/** Every header of a response. */
const FIELDS = new Set([
  ...'allow cache-control content-disposition content-length content-type etag link ratelimit'.split(' '),
  ...'ratelimit-policy retry-after server-timing transfer-encoding vary x-window x-expected-rows'.split(' '),
  ...'x-content-type-options x-brands-digest x-data-as-of x-request-id'.split(' '),
])

/** Bytes of all headers together that every client and proxy takes. */
const HEAD_LIMIT = 8192

/** Expects no 5xx, a fixed message in errors, and known headers only. */
function expectHarmless(answer: Received, method = 'GET'): void {
  const { status, fields, body } = answer
  expect(status, body.slice(0, 200)).toBeLessThan(500)
  expect(fields.map(([name]) => name).filter((name) => !FIELDS.has(name))).toEqual([])
  expect(fields.flat().join('').length).toBeLessThan(HEAD_LIMIT)
  const type = fieldOf(answer, 'content-type')
  if (status !== 304) expect(status === 200 ? TYPES : ['application/json']).toContain(type)
  if (method === 'HEAD' || status === 304) expect(body).toBe('')
  else if (status === 200) rowsOf(answer)
  else {
    const { error, ...rest } = JSON.parse(body)
    expect([SENTENCES.has(error), rest], body).toEqual([true, {}])
  }
}

/** The content types of rows. */
const TYPES = ['application/json', 'application/x-ndjson', 'text/csv; charset=utf-8; header=present']

/** The rows of a response that has some, as a page or as NDJSON. Those of CSV are not parsed. */
function rowsOf(answer: Received): readonly Row[] {
  const [json, ndjson] = TYPES
  const type = fieldOf(answer, 'content-type')
  if (type === json) return JSON.parse(answer.body).data ?? []
  if (type !== ndjson) return []
  return answer.body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

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
      pair('sort', '5'),
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
