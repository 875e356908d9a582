import { beforeEach, expect, test } from 'vitest'
import { sharedObjects } from '../../lib/share/objects.ts'
import { share } from '../../lib/share/share.ts'
import { urlSigner } from '../../lib/share/signed-url.ts'
import { loggedLines } from '../fixtures/log.ts'
import { neonAnswers, neonRows } from '../mocks/neon.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

const lines = loggedLines()
const BASE = 'http://localhost/api/sharing/v1'
const TABLE = `${BASE}/shares/export/schemas/metrics/tables/brands`
const ID = '11111111-1111-4111-8111-111111111111'

const COLUMNS = {
  key_id: ID,
  organization_id: ID,
  plan: 'pro',
  tables: '{"brands":[]}',
  oldest: '1',
  oldest_at: '2026-11-01T00:00:00.000Z',
  latest: '1',
  version: '1',
  start: '1',
  until: '1',
  committed_at: '2026-11-01T00:00:00.000Z',
  size: '{"size":0,"numFiles":0}',
  objects: null,
}

const urls = urlSigner({ origin: 'http://localhost', now: new Date(), seconds: 60, secrets: ['secret'] })

/** A bucket whose requests fail, and which has an object only to `head`. */
const away = async () => {
  throw new Error('R2 said svc_live_')
}
const env = { ...bindings(), BUCKET: { head: away, get: away } }
const halfway = { ...env, BUCKET: { head: async () => ({ size: 9, httpEtag: '"a"' }), get: away } }

beforeEach(() => {
  counterAnswers(counted(1))
  neonAnswers(neonRows([Object.values(COLUMNS)], { columns: Object.keys(COLUMNS) }))
})

const ask = (url: string, method = 'GET') =>
  share().fetch(
    new Request(url, { method, headers: { Authorization: `Bearer svc_live_${'0'.repeat(64)}` } }),
    env,
  )

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('5')
  if (response.body !== null)
    expect(await response.json()).toEqual({
      errorCode: 'TEMPORARILY_UNAVAILABLE',
      message: 'The objects are temporarily unavailable. Retry the request.',
    })
  expect(lines).toContainEqual(expect.objectContaining({ event: 'bucket_error', error_name: 'Error' }))
  expect(JSON.stringify(lines)).not.toContain('svc_live_')
}

test.each([
  [`${BASE}/shares`],
  [`${TABLE}/metadata`],
])('while the bucket is unavailable, %s works', async (url) => {
  expect((await ask(url)).status).toBe(200)
  expect(lines).toHaveLength(1)
})

test.each([
  [`${TABLE}/query`, 'POST'],
  [`${TABLE}/changes?startingVersion=1`, 'GET'],
])('while the bucket is unavailable, %s is 503', async (url, method) => {
  await expectUnavailable(await ask(url, method))
})

test.each([
  ['GET', {}, env],
  ['HEAD', {}, env],
  ['GET', { Range: 'bytes=0-3' }, env],
  ['GET', { Range: 'bytes=0-3' }, halfway],
  ['GET', { 'If-None-Match': '"b"' }, halfway],
])('while the bucket is unavailable, an object is 503 (%s, %j)', async (method, headers, bucket) => {
  const url = await urls.sign(ID)
  await expectUnavailable(await sharedObjects().fetch(new Request(url, { method, headers }), bucket))
})
