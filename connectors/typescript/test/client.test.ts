import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BadRequestError,
  decimalText,
  ExportApi,
  ExportApiError,
  ForbiddenError,
  NotFoundError,
  type Retry,
  UnauthorizedError,
} from '../src/index.ts'
import { endpoint } from '../src/pages.ts'
import type { Send } from '../src/send.ts'
import { type Answer, failure, fakeApi, hanging, META, page, toArray, WINDOW } from './fake-api.ts'

const row = (date: string) => ({ date, visible_count: 1 })

describe('a metric', () => {
  const pages = [
    page([row('2026-10-01'), row('2026-10-02')], 'cFirst'),
    page([], 'cSecond'),
    page([row('2026-10-03')]),
  ]

  test('yields the rows of all pages, and requests each page when it is needed', async () => {
    const { api, requests } = fakeApi(pages)
    const counts: [date: string, requests: number][] = []
    for await (const { date } of api.visibility(WINDOW)) counts.push([date, requests.length])
    expect(counts).toEqual([
      ['2026-10-01', 1],
      ['2026-10-02', 1],
      ['2026-10-03', 3],
    ])
    expect(requests.map(({ url }) => url.pathname)).toEqual(Array(3).fill('/api/export/v1/visibility'))
    expect(requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      WINDOW,
      { ...WINDOW, cursor: 'cFirst' },
      { ...WINDOW, cursor: 'cSecond' },
    ])
  })

  test('sends no further request when the consumer stops', async () => {
    const { api, requests } = fakeApi(pages)
    for await (const { date } of api.visibility(WINDOW)) if (date === '2026-10-02') break
    for await (const { hasMore } of api.visibility.pages(WINDOW)) if (hasMore) break
    expect(requests).toHaveLength(2)
  })

  test('yields pages with what the service says about them', async () => {
    const [asOf, brandsDigest, requestId] = ['2026-10-30T04:31:07.123Z', '52dc3ba8379705e', 'request-1']
    const headers = { 'X-Data-As-Of': asOf, 'X-Brands-Digest': brandsDigest, 'X-Request-Id': requestId }
    const { api } = fakeApi([page([row('2026-10-01')], 'cFirst', headers), page([])])
    expect(await toArray(api.metric('visibility').pages(WINDOW))).toEqual([
      { rows: [row('2026-10-01')], meta: META, asOf, brandsDigest, requestId, hasMore: true },
      { rows: [], meta: META, asOf: null, brandsDigest: null, requestId: null, hasMore: false },
    ])
  })
})

test('days come in pages, from a cursor on, each with the cursor to store', async () => {
  const day = { endpoint: 'visibility', brand_id: WINDOW.brandId, offset: 0, rows: [row('2026-10-01')] }
  const headers = { 'X-Data-As-Of': '2026-10-30T04:31:07.123Z', 'X-Request-Id': 'request-1' }
  const last = { pageSize: 1000, hasMore: false, nextCursor: 'dLast' }
  const { api, requests } = fakeApi([
    page([day], 'dNext', headers),
    () => Response.json({ data: [], pagination: last, meta: META }),
  ])
  const query = { endpoint: 'visibility', cursor: 'dStored' } as const
  expect(await toArray(api.days(query))).toEqual([
    {
      days: [day],
      cursor: 'dNext',
      hasMore: true,
      fromDate: '2026-10-01',
      asOf: headers['X-Data-As-Of'],
      requestId: 'request-1',
    },
    { days: [], cursor: 'dLast', hasMore: false, fromDate: '2026-10-01', asOf: null, requestId: null },
  ])
  expect(requests.map(({ url }) => url.pathname + url.search)).toEqual([
    '/api/export/v1/days?endpoint=visibility&cursor=dStored',
    '/api/export/v1/days?endpoint=visibility&cursor=dNext',
  ])
})

test('changed days have a changedAt', async () => {
  const day = { endpoint: 'visibility', date: '2026-10-01', rows: 2, totals: { visible_count: 3 } }
  const sent = { ...day, brand_id: WINDOW.brandId, changed_at: '2026-10-31T10:00:00.000001Z' }
  const { api, requests } = fakeApi([page([sent])])
  const since = '2026-10-30T10:00:00.000001Z'
  const days = await toArray(api.changedDays({ ...WINDOW, since }))
  expect(days).toEqual([{ ...day, brandId: WINDOW.brandId, changedAt: '2026-10-31T10:00:00.000001Z' }])
  expect(requests[0]?.url.searchParams.get('since')).toBe(since)
})

test('brands are an array, also when a character arrives in two chunks', async () => {
  const rows = [{ id: WINDOW.brandId, name: 'Søn' }]
  const headers = { 'X-Brands-Digest': '52dc3ba8379705e' }
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (const byte of Buffer.from(JSON.stringify({ data: rows }))) controller.enqueue(Uint8Array.of(byte))
    controller.close()
  }
  const answer = () => new Response(new ReadableStream({ start }), { headers })
  const { api, requests } = fakeApi([answer, answer])
  expect(await api.brands()).toEqual(rows)
  expect(await api.brands.page()).toEqual({ rows, brandsDigest: '52dc3ba8379705e', requestId: null })
  expect(requests.map(({ url }) => url.pathname)).toEqual(Array(2).fill('/api/export/v1/brands'))
})

test('requests go to the service, with the key and a User-Agent', async () => {
  const { api, requests } = fakeApi([page([])], {
    baseUrl: ' https://service.example/api/export/v1/\n',
    apiKey: ' svc_live_2\n',
  })
  const named = fakeApi([page([])], { baseUrl: 'https://service.example/', userAgent: 'my-warehouse/1.0' })
  await Promise.all([api.brands(), named.api.brands()])
  const sent = [requests, named.requests].map(([request]) => request)
  expect(sent.map((request) => Object.fromEntries(new Headers(request?.init.headers)))).toEqual([
    {
      authorization: 'Bearer svc_live_2',
      'user-agent': 'export-api-typescript/1.0.0',
      'x-api-key': 'svc_live_2',
    },
    { authorization: 'Bearer svc_live_1', 'user-agent': 'my-warehouse/1.0', 'x-api-key': 'svc_live_1' },
  ])
  const address = 'https://service.example/api/export/v1/brands'
  expect(sent.map((request) => String(request?.url))).toEqual([address, address])
})

test.each([
  { baseUrl: '' },
  { baseUrl: 'service.example' },
  { baseUrl: 'https://me:hidden@service.example' },
  { baseUrl: 'https://service.example?hidden' },
  { baseUrl: 'http://hidden.example' },
  { baseUrl: 'http://127.0.0.1.hidden.example' },
  { apiKey: ' ' },
  { apiKey: 'hidden…' },
  { apiKey: 'hid\nden' },
  { timeoutMs: 0 },
])('the options %j are a TypeError that does not repeat them', (options) => {
  const message = expect.stringMatching(new RegExp(`^The ${Object.keys(options)} (?!.*hid)`, 's'))
  expect(() => fakeApi([], options)).toThrow(expect.objectContaining({ name: 'TypeError', message }))
})

test('the key goes by http:// to another machine if the caller allows it', async () => {
  const { api, requests } = fakeApi([page([])], { baseUrl: 'http://service.example', allowHttp: true })
  await api.brands()
  expect(String(requests[0]?.url)).toMatch(/^http:\/\/service\.example\//)
})

test('an attempt without a complete response ends after timeoutMs', async () => {
  const onRetry = ({ error }: Retry) => {
    throw error
  }
  const { api } = fakeApi([hanging], { timeoutMs: 5, onRetry })
  await expect(api.brands()).rejects.toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('timeout'),
  })
})

test('a client without options says what is missing', () => {
  // As in JavaScript.
  const message = 'The apiKey is missing, or has characters that no key has.'
  expect(() => Reflect.construct(ExportApi, [])).toThrow(new TypeError(message))
})

test.each<[status: number, Class: typeof ExportApiError]>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [405, ExportApiError],
])('a %d is an error of its own, after one request', async (status, Class) => {
  const { api, requests } = fakeApi([failure(status)])
  const error = await api.brands().catch((error) => error)
  expect(error).toBeInstanceOf(Class)
  const message = `Message of ${status}.`
  expect(error).toMatchObject({ name: Class.name, status, requestId: 'request-1', message })
  expect(requests).toHaveLength(1)
})

test('an error of what is no response has not the bytes of it, which can repeat the key', async () => {
  const cause = Object.assign(new Error('Expected HTTP/, got svc_live_1'), { data: 'svc_live_1' })
  const { api } = fakeApi([() => Promise.reject(new TypeError('fetch failed', { cause }))], {
    onRetry: ({ error }) => {
      throw error
    },
  })
  const shown = inspect(await api.brands().catch((error) => error))
  expect(shown).toContain('Expected HTTP/, got <API key>')
  expect(shown).not.toContain('svc_live_1')
})

test('a 403 with a page of HTML is said to be of a proxy or firewall', async () => {
  const { api } = fakeApi([
    () => new Response('<!doctype html>', { status: 403, headers: { 'Content-Type': 'text/html' } }),
  ])
  await expect(api.brands()).rejects.toMatchObject({
    name: 'ForbiddenError',
    message: expect.stringMatching(/403 with a page .* firewall answered\.$/),
  })
})

test.each<[response: string, message: string, status: number | undefined, Answer]>([
  ['redirect', 'redirects', 301, () => Response.redirect('https://other.example/', 301)],
  ['redirect in a browser', 'redirects', undefined, () => Response.error()],
])('a %s is an error that asks to check the address', async (_, what, status, answer) => {
  const { api, requests } = fakeApi([answer])
  const message = `https://service.example ${what}. Check baseUrl.`
  await expect(api.brands()).rejects.toMatchObject({ name: 'ExportApiError', message, status })
  // Nothing follows a redirect with the key.
  expect(requests.map(({ init }) => init.redirect)).toEqual(['manual'])
})

test('a certificate that is not trusted is an error, after one request', async () => {
  const cause = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  const { api, requests } = fakeApi([() => Promise.reject(new TypeError('fetch failed', { cause }))])
  await expect(api.brands()).rejects.toMatchObject({
    name: 'ExportApiError',
    message:
      'No complete response from https://service.example: self-signed certificate. If your network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to its file.',
  })
  expect(requests).toHaveLength(1)
})

test('a body without end is an error, after one request', async () => {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new Uint8Array(1_000_000).fill(32))
  const { api, requests } = fakeApi([() => new Response(new ReadableStream({ pull }))])
  const message = 'https://service.example sent more than a page. Check baseUrl.'
  await expect(api.brands()).rejects.toMatchObject({ name: 'ExportApiError', message })
  expect(requests).toHaveLength(1)
})

test.each<[string, readonly Answer[]]>([
  ['have the same cursor again', Array(3).fill(page([1], 'c'))],
  ['have no rows', Array.from({ length: 1000 }, (_, index) => page([], `c${index}`))],
])('pages that %s are an error', async (_, answers) => {
  const { api, requests } = fakeApi(answers)
  await expect(toArray(api.visibility(WINDOW))).rejects.toThrow('The pages of /visibility do not end.')
  expect(requests.length).toBeLessThanOrEqual(100)
})

test('pages that have another cursor each time are an error', async () => {
  let sent = 0
  const send: Send = async () => {
    sent += 1
    const page = { data: [1], pagination: { pageSize: 1, hasMore: true, nextCursor: `${sent}` }, meta: META }
    return { headers: new Headers(), body: JSON.parse(JSON.stringify(page)) }
  }
  const pages = endpoint(send, '/changes', (row) => row)
  await expect(toArray(pages(WINDOW))).rejects.toThrow('The pages of /changes do not end.')
  expect(sent).toBe(100_000)
})

test('a 304 is no redirect', async () => {
  const { api } = fakeApi([() => new Response(null, { status: 304 })])
  await expect(api.brands()).rejects.toMatchObject({ message: 'https://service.example returned 304.' })
})

const decimals = (bound: number) => fc.bigInt({ min: 0n, max: BigInt(bound) * 10_000n - 1n })
const toText = (units: bigint) => `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`

test('decimalText returns the text of a decimal below 10^11, and of a sum of 1000 decimals below 100,000', () => {
  fc.assert(
    fc.property(decimals(1e11), (units) => {
      expect(decimalText(JSON.parse(toText(units)))).toBe(toText(units))
    }),
  )
  fc.assert(
    fc.property(fc.array(decimals(1e5), { minLength: 1, maxLength: 1000 }), (all) => {
      const sum = all.reduce((total, units) => total + Number(toText(units)), 0)
      expect(decimalText(sum)).toBe(toText(all.reduce((total, units) => total + units, 0n)))
    }),
  )
})
