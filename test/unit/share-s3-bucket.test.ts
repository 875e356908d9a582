import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openBucket } from '../../cli/share/s3-bucket.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { readObject, writeObject } from '../../lib/share/write-object.ts'

const fetched = vi.fn<typeof fetch>()

beforeEach(() => {
  vi.stubGlobal('fetch', fetched.mockReset())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.setTimerTickMode('nextTimerAsync')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const SETTINGS = {
  SHARE_BUCKET: 'share',
  AWS_ENDPOINT_URL_S3: 'https://r2.example',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
}
const bucket = openBucket(SETTINGS)

const object = { id: 'id', metric: 'visibility', brand_id: 'brand', first_part: 0, parts: [[['a']]] }
const context = { columns: [{ name: 'brand_id', type: 'string' as const }], bucket, readPart: async () => [] }

test.each([
  ['put', () => writeObject(object, context)],
  ['read', () => readObject(bucket, 'id')],
])('a %s that fails is repeated by the share alone', async (_, attempt) => {
  fetched.mockImplementation(async () => new Response('', { status: 503 }))
  await expect(attempt()).rejects.toThrow(
    /^\w+ .*: 503\.\nCheck SHARE_BUCKET, AWS_ENDPOINT_URL_S3 and the API token\.$/,
  )
  expect(fetched).toHaveBeenCalledTimes(4)
})

test.each([
  ['delete', () => bucket.delete(['key']), undefined],
  ['exists', () => bucket.exists('key'), true],
])('%s repeats what fails', async (_, attempt, expected) => {
  fetched.mockResolvedValueOnce(new Response('', { status: 503 }))
  fetched.mockResolvedValueOnce(new Response(null, { status: 204 }))
  expect(await attempt()).toBe(expected)
})

test('an object that is missing is null, does not exist, and is deleted', async () => {
  fetched.mockImplementation(async () => new Response('', { status: 404 }))
  expect(await bucket.read('key')).toBeNull()
  expect(await bucket.exists('key')).toBe(false)
  await bucket.delete(['key'])
})

test.each([
  [{ AWS_ENDPOINT_URL_S3: '' }, /^Set AWS_ENDPOINT_URL_S3, such as /],
  [{ AWS_SECRET_ACCESS_KEY: '' }, /^Set AWS_ACCESS_KEY_ID and /],
])('%j is wrong usage', (setting, message) => {
  const open = () => openBucket({ ...SETTINGS, ...setting })
  expect(open).toThrow(UsageError)
  expect(open).toThrow(message)
})
