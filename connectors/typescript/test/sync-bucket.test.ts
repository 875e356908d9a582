import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { startLocalServer } from '../../certify/local-server.ts'
import { UsageError } from '../cli/errors.ts'
import { objectStore } from '../cli/object-store.ts'

// Copies in a bucket. On an S3 server: engines/delta.test.ts.

test.each([
  ['s3://', {}, /^Use s3:\/\/bucket\/prefix instead of /],
  ['s3://B/x', {}, /^Use s3:/],
  ['s3:///x', {}, /^Use s3:/],
  ['s3://bucket/a//b', {}, /^A part of the prefix is empty or has dots only: /],
  ['s3://bucket/a/../b', {}, /^A part of the prefix /],
  ['s3://bucket', { AWS_ENDPOINT_URL_S3: 'localhost:9000' }, /^AWS_ENDPOINT_URL_S3 must begin with https:/],
  ['s3://bucket', {}, /^Set AWS_ACCESS_KEY_ID/],
])('%s with %j is wrong usage', (location, environment, message) => {
  const open = () => objectStore(location, environment)
  expect(open).toThrow(UsageError)
  expect(open).toThrow(message)
})

/** Opens a store whose service sends what `respond` returns. */
async function storeOf(
  respond: (request: IncomingMessage) => { status?: number | undefined; body?: string; date?: Date },
) {
  const { url, close } = await startLocalServer((request, response) => {
    const { status = 200, body, date = new Date() } = respond(request)
    response.writeHead(status, { ETag: '"1"', Date: date.toUTCString() }).end(body)
  })
  onTestFinished(close)
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
  return objectStore('s3://bucket/copy', { ...keys, AWS_ENDPOINT_URL: url })
}

test.each([
  ['ignores the conditions of writes', [200, 200, 204], 'ignores the conditions of writes', 'PUT PUT DELETE'],
  ['heeds them', [200, 412], true, 'PUT PUT'],
  ['has the entry', [412], false, 'PUT'],
])('the first entry of a log tests a service that %s', async (_, statuses, result, requests) => {
  const sent: unknown[] = []
  const store = await storeOf(({ method }) => ({ status: statuses[sent.push(method) - 1] }))
  const path = `brands/_delta_log/${'0'.repeat(20)}.json`
  expect(await store.createIfAbsent(path, '').catch(({ message }) => message)).toEqual(
    typeof result === 'string' ? expect.stringContaining(result) : result,
  )
  expect(sent.join(' ')).toBe(requests)
})

test('lists all pages of a folder', async () => {
  const queries: (string | null)[][] = []
  const store = await storeOf(({ url = '' }) => {
    const query = new URL(url, 'http://localhost').searchParams
    queries.push(['prefix', 'start-after', 'continuation-token'].map((name) => query.get(name)))
    const object = `<Contents><Key>copy/a/${queries.length}</Key><Size>7</Size><ETag>e</ETag></Contents>`
    const token = queries.length < 3 && `<NextContinuationToken>t${queries.length}</NextContinuationToken>`
    return { body: `<ListBucketResult>${object}${token || ''}</ListBucketResult>` }
  })
  expect([...(await store.list('a', '0')).keys()]).toEqual(['1', '2', '3'])
  expect(queries).toEqual([null, 't1', 't2'].map((token) => ['copy/a/', 'copy/a/0', token]))
})

test('its time is that of the bucket', async () => {
  const store = await storeOf(() => ({ status: 404, date: new Date('2000-01-01') }))
  await store.read('a')
  expect(new Date(await store.now('a')).getUTCFullYear()).toBe(2000)
})

test('a list without end is an error', async () => {
  const page = '<NextContinuationToken>again</NextContinuationToken>'
  const store = await storeOf(() => ({ body: `<ListBucketResult>${page}</ListBucketResult>` }))
  await expect(store.list('a')).rejects.toThrow('The list of s3://bucket/copy does not end.')
})

test.each(['<html><body>Sign in<br></body></html>', '<html/>'])('%s is no list', async (body) => {
  const store = await storeOf(() => ({ body }))
  await expect(store.list('')).rejects.toThrow('is none of the S3 protocol')
})

test('a list of more than 64 MiB is an error at once', async () => {
  let requests = 0
  const store = await storeOf(() => {
    requests += 1
    return { body: ' '.repeat(2 ** 26 + 1) }
  })
  await expect(store.list('a')).rejects.toThrow(/: The response has more than 64 MiB\.$/)
  expect(requests).toBe(1)
  expect(await store.read('a')).toHaveLength(2 ** 26 + 1)
})
