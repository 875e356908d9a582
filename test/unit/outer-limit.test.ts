import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { requireKeyHash } from '../../lib/access/access.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import { network } from '../../lib/limits/outer-limit.ts'
import { httpError } from '../../lib/request/errors.ts'
import { sha256 } from '../../lib/request/hash.ts'
import { share } from '../../lib/share/share.ts'
import { loggedLines } from '../fixtures/log.ts'
import { neonAnswers, neonRows } from '../mocks/neon.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

const lines = loggedLines()

const URL_OF_X = 'http://localhost/api/export/v1/x'
const ADDRESS = '203.0.113.7'

/** Bindings whose limiter says no for some keys, and the keys that it was asked for. */
function limited(isOver: (key: string) => boolean = () => false) {
  const asked: string[] = []
  const limit = async ({ key }: { key: string }) => {
    asked.push(key)
    return { success: !isOver(key) }
  }
  return { asked, env: { ...bindings(), OUTER_LIMITER: { limit } } }
}

/** Keys of an active plan, and keys without one. */
const [active, unpaid] = [new Set<string>(), new Set<string>()]
let handled = 0
const { fetch } = endpoint({
  path: '/x',
  handler: async (context) => {
    const keyHash = requireKeyHash(context)
    handled += 1
    if (!active.has(keyHash) && !unpaid.has(keyHash)) throw httpError('key')
    context.var.log.keyId = 'its id'
    if (unpaid.has(keyHash)) throw httpError('plan')
    return { body: '{}', cacheable: false }
  },
})

type Headers = Record<string, string>

const request = (headers: Headers = {}, url = URL_OF_X, method = 'GET') =>
  new Request(url, { method, headers: { 'CF-Connecting-IP': ADDRESS, ...headers } })

/** A new key and the hash of it. */
async function newKey(keys = active) {
  const key = `svc_live_${randomBytes(32).toString('hex')}`
  const hash = await sha256(key)
  keys.add(hash)
  return { key, hash }
}

let redis: RequestInit[]
beforeEach(() => {
  redis = counterAnswers(counted(1))
  handled = 0
})

test.each<[string, Headers, string]>([
  ['no key', {}, `address ${ADDRESS}`],
  ['a key of another form', { 'X-API-Key': 'svc_live_0' }, `address ${ADDRESS}`],
  ['an IPv6 address', { 'CF-Connecting-IP': '2001:db8:1:2:3::4' }, 'address 2001:db8:1:2'],
])('a request with %s counts by its address', async (_, headers, key) => {
  const { asked, env } = limited()
  expect((await fetch(request(headers), env)).status).toBe(401)
  expect(asked).toEqual([key])
})

test.each([
  ['active', active, 200],
  ['unpaid', unpaid, 403],
])('an %s key counts by its address, then by itself, until it is 401', async (_, keys, status) => {
  const { asked, env } = limited()
  const { key, hash } = await newKey(keys)
  const headers = { 'X-API-Key': ` ${key}` }
  for (let times = 0; times < 2; times += 1) expect((await fetch(request(headers), env)).status).toBe(status)
  keys.delete(hash)
  for (let times = 0; times < 2; times += 1) expect((await fetch(request(headers), env)).status).toBe(401)
  expect(asked).toEqual([`address ${ADDRESS}`, `key ${hash}`, `key ${hash}`, `address ${ADDRESS}`])
})

test('an accepted key passes while its address is over the limit, and no other request does', async () => {
  const { key } = await newKey()
  const { key: idle } = await newKey()
  expect((await fetch(request({ 'X-API-Key': key }), bindings())).status).toBe(200)
  const { env } = limited((counter) => counter.startsWith('address'))
  expect((await fetch(request({ 'X-API-Key': key }), env)).status).toBe(200)
  for (const headers of [{}, { 'X-API-Key': idle }, { 'X-API-Key': 'svc_live_0' }])
    expect((await fetch(request(headers), env)).status).toBe(429)
})

test('answers 429 before Redis and the handler', async () => {
  const { env } = limited(() => true)
  const response = await fetch(request({ 'X-API-Key': (await newKey()).key }), env)
  expect([response.status, response.headers.get('Retry-After')]).toEqual([429, '60'])
  expect(await response.json()).toEqual({ error: httpError('outerLimit').message })
  expect([redis, handled]).toEqual([[], 0])
  expect(lines).toMatchObject([{ event: 'request', status: 429, subrequests: { neon: 0, upstash: 0 } }])
})

test('lets as many wrong keys at once reach the handler as it allows', async () => {
  let left = 600
  const { env } = limited(() => {
    left -= 1
    return left < 0
  })
  const wrong = () => fetch(request({ 'X-API-Key': `svc_live_${randomBytes(32).toString('hex')}` }), env)
  await Promise.all(Array.from({ length: 700 }, wrong))
  expect([handled, redis.length]).toEqual([600, 600])
})

test('in the share counts the key that comes as a bearer token', async () => {
  const { key, hash } = await newKey()
  const row = {
    key_id: 'its id',
    organization_id: 'organization',
    plan: 'pro',
    tables: '{}',
    oldest: null,
    oldest_at: null,
    latest: null,
  }
  neonAnswers(neonRows([Object.values(row)], { columns: Object.keys(row) }))
  const { asked, env } = limited((counter) => counter.startsWith('key'))
  const send = () =>
    share().fetch(request({ Authorization: `bearer  ${key}` }, 'http://localhost/api/sharing/v1/shares'), env)
  expect((await send()).status).toBe(200)
  const over = await send()
  expect(asked).toEqual([`address ${ADDRESS}`, `key ${hash}`])
  const message = httpError('outerLimit').message
  expect([over.status, await over.json()]).toEqual([429, { errorCode: 'RESOURCE_EXHAUSTED', message }])
})

test('comes after the path and the method', async () => {
  const { asked, env } = limited(() => true)
  expect((await fetch(request({}, `${URL_OF_X}/unknown`), env)).status).toBe(404)
  expect((await fetch(request({}, URL_OF_X, 'POST'), env)).status).toBe(405)
  expect(asked).toEqual([])
})

test.each([
  ['is missing', {}, 'MissingBinding'],
  ['fails', { OUTER_LIMITER: { limit: () => Promise.reject(new RangeError('secret')) } }, 'RangeError'],
])('is logged once when its binding %s, and requests are served', async (_, limiter, error_name) => {
  const { OUTER_LIMITER: _limiter, ...rest } = bindings()
  const env = { ...rest, ...limiter }
  const { key } = await newKey()
  for (const _ of [1, 2]) expect((await fetch(request({ 'X-API-Key': key }), env)).status).toBe(200)
  expect(lines.filter(({ event }) => event !== 'request')).toEqual([
    { event: 'outer_limit_unavailable', error_name },
  ])
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['0.0.0.1', '0.0.0.1'],
  ['::ffff:203.100.113.207', '203.100.113.207'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['2001:DB8:01:0002:3:4:5:6', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::1', '2001:db8:1:2'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2'],
  ['2001:db8:a0::', '2001:db8:a0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:db8:0:0:1::', '2001:db8:0:0'],
  ['2001:db8:0000:0000:0000:0000:0000:0001', '2001:db8:0:0'],
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['2001:db8:12::1', '2001:db8:12:0'],
  ['2001:db8::4:5:6:7:8', '2001:db8:0:4'],
  ['2001:db8::ffff:203.0.113.7', '2001:db8:0:0'],
  ['1::', '1:0:0:0'],
  ['::1', '0:0:0:0'],
  ['::4:5:6:7:8', '0:0:0:4'],
  ['0:0:0:1::1', '0:0:0:1'],
  ['1:2:3:4:5:6:7:8:9', '1:2:3:4'],
  ['', ''],
])('%s belongs to %s', (address, expected) => {
  expect(network(address)).toBe(expected)
})
