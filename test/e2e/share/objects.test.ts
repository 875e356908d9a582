import { beforeAll, expect, test } from 'vitest'
import { answeredDays, type Scene } from '../../fixtures/scene.ts'
import { objectsOf, type SharedObject, startShare } from '../../fixtures/share.ts'

const { db, service, publish, query, logged } = await startShare()

let its: Scene
let object: SharedObject
let bytes: Buffer
let etag: string

beforeAll(async () => {
  its = await answeredDays(db, { first: '2026-10-01', days: 1 })
  await publish()
  object = first(await query(its.key, 'visibility'))
  const response = await fetch(object.url)
  bytes = Buffer.from(await response.arrayBuffer())
  etag = response.headers.get('ETag') ?? ''
})

const first = (...answer: Parameters<typeof objectsOf>): SharedObject =>
  objectsOf(...answer)[0] ?? expect.fail('The snapshot has no object')

const get = (headers: Record<string, string> = {}, { url = object.url, method = 'GET' } = {}) =>
  fetch(url, { method, headers })

const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

const expectError = async (response: Response, status: number, errorCode: string) =>
  expect([response.status, (await response.json()).errorCode]).toEqual([status, errorCode])

test('an object is private, has its size and its type, and needs neither a key nor the database nor the budget', async () => {
  const before = service.subrequests()
  const [response, head] = [await get(), await get({}, { method: 'HEAD' })]
  for (const { status, headers } of [response, head])
    expect({ status, ...Object.fromEntries(headers) }).toMatchObject({
      status: 200,
      'content-type': 'application/vnd.apache.parquet',
      'content-length': String(object.size),
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=3600, immutable',
      etag,
    })
  expect((await bodyOf(response)).equals(bytes)).toBe(true)
  expect(bytes).toHaveLength(object.size)
  expect(bytes.subarray(0, 4).toString()).toBe('PAR1')
  expect(service.subrequests()).toEqual(before)
  await expect
    .poll(() => logged.at(-1))
    .toMatchObject({ endpoint: '/share/objects', subrequests: { neon: 0, upstash: 0 } })
  expect(JSON.stringify(logged)).not.toContain('signature')
})

test.each([
  ['bytes=0-0', 0, 1],
  ['bytes=4-', 4, undefined],
  ['bytes=-8', -8, undefined],
  ['bytes=2-99999999999999999999', 2, undefined],
  ['bytes=-99999999999999999999', 0, undefined],
])('Range: %s is 206', async (range, from, to) => {
  const response = await get({ Range: range })
  const part = bytes.subarray(from, to)
  const start = from < 0 ? bytes.length + from : from
  expect(response.status).toBe(206)
  expect(response.headers.get('Content-Range')).toBe(
    `bytes ${start}-${start + part.length - 1}/${bytes.length}`,
  )
  expect(response.headers.get('Content-Length')).toBe(String(part.length))
  expect((await bodyOf(response)).equals(part)).toBe(true)
})

test('a range after the end is 416', async () => {
  const end = bytes.length
  for (const Range of [`bytes=${end}-`, `bytes=${end}-99999999`, 'bytes=99999999999999999999-', 'bytes=-0']) {
    const response = await get({ Range })
    expect([Range, response.headers.get('Content-Range')]).toEqual([Range, `bytes */${end}`])
    await expectError(response, 416, 'RANGE_NOT_SATISFIABLE')
  }
})

test('several ranges and what is none ask for the whole object', async () => {
  for (const Range of ['bytes=0-1,4-5', 'bytes=5-2', 'bytes=-', 'rows=0-1']) {
    const response = await get({ Range })
    expect([Range, response.status, response.headers.get('Content-Range')]).toEqual([Range, 200, null])
    expect((await bodyOf(response)).equals(bytes)).toBe(true)
  }
})

test('If-Range with another entity tag or a weak one asks for the whole object', async () => {
  expect(etag).toMatch(/^"[^"]+"$/)
  for (const [ifRange, status] of [
    [etag, 206],
    [`W/${etag}`, 200],
    ['Tue, 24 Nov 2026 00:00:00 GMT', 200],
  ] as const) {
    const response = await get({ Range: 'bytes=0-3', 'If-Range': ifRange })
    const length = status === 206 ? 4 : bytes.length
    expect([ifRange, response.status, (await bodyOf(response)).length]).toEqual([ifRange, status, length])
  }
})

test.each(['GET', 'HEAD'])('If-None-Match with its entity tag is 304 to %s', async (method) => {
  const same = await get({ 'If-None-Match': etag }, { method })
  expect([same.status, same.headers.get('ETag')]).toEqual([304, etag])
  const other = await get({ 'If-None-Match': '"other"' }, { method })
  expect(other.status).toBe(200)
  await other.body?.cancel()
})

test('an altered or missing signature is 403, and other methods are 405', async () => {
  const [path = ''] = object.url.split('?')
  for (const url of [path, `${object.url}x`])
    await expectError(await get({}, { url }), 403, 'PERMISSION_DENIED')
  const response = await get({}, { method: 'POST' })
  expect(response.headers.get('Allow')).toBe('GET, HEAD')
  await expectError(response, 405, 'METHOD_NOT_ALLOWED')
})

test('an object works after its key is revoked, and an object that is gone is 404', async () => {
  const other = await answeredDays(db, { first: '2026-10-01', days: 1 })
  await publish()
  const { url } = first(await query(other.key, 'visibility'))
  await db.query('update api_keys set revoked_at = now() where organization_id = $1', [other.org.id])
  await expect(query(other.key, 'visibility')).rejects.toThrow('401')
  expect((await get({}, { url })).status).toBe(200)

  await db.query('delete from answers where prompt_id = $1', [other.prompt])
  await db.query('select daily.refresh(null, $1, 100) from daily.resolve()', ['1 min'])
  await publish()
  await db.query(`update brands set name = 'Renamed' where id = $1`, [other.brandId])
  await publish()
  expect((await get({}, { url })).status, 'an older version names it').toBe(200)
  await db.query(`update daily.versions set committed_at = committed_at - interval '40 days'`)
  await publish()
  const droppedBefore = (hours: number) =>
    db.query(
      'update daily.objects set dropped_at = now() - make_interval(hours => $1) where dropped_at is not null',
      [hours],
    )
  await droppedBefore(47)
  await publish()
  expect((await get({}, { url })).status, 'no version names it since 47 hours').toBe(200)
  await droppedBefore(49)
  await publish()
  for (const headers of [{}, { Range: 'bytes=0-3' }, { Range: 'bytes=0-3', 'If-Range': etag }] as const)
    await expectError(await get(headers, { url }), 404, 'RESOURCE_DOES_NOT_EXIST')
  expect((await get({}, { url, method: 'HEAD' })).status).toBe(404)
})
