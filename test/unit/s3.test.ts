import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { bucketOf, createS3, S3Error, SettingError } from '../../connectors/typescript/cli/s3.ts'

const ACCOUNT = { accessKeyId: 'id', secretAccessKey: 'secret', region: 'auto' }

const DENIED =
  '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>No &amp; never.</Message></Error>'

/** Starts a bucket that answers the nth request as the nth of these, and returns what it was asked. */
async function start(responses: readonly RequestListener[], retries = 9) {
  const asked: { method?: string | undefined; url?: string | undefined; body: string }[] = []
  const server = await startLocalServer(async (request, response) => {
    const { method, url } = request
    const respond = responses[asked.length]
    asked.push({ method, url, body: (await buffer(request)).toString() })
    if (respond === undefined) throw new Error('One request too many')
    await respond(request, response)
  })
  onTestFinished(server.close)
  const bucket = `${server.url}/bucket`
  const onRetry = vi.fn<(reason: string) => void>()
  return { asked, bucket, onRetry, send: createS3({ url: bucket, ...ACCOUNT }, { retries, onRetry }) }
}

const status =
  (code: number, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(code).end(body)
const lost: RequestListener = ({ socket }) => void socket.destroy()
const cut: RequestListener = (_, response) =>
  void response.writeHead(200, { 'Content-Length': 9 }).write('part', () => response.destroy())

test.each([
  ['503', status(503, '<Error><Code>SlowDown</Code><Message>Wait.</Message></Error>'), '503 SlowDown. Wait.'],
  ['429', status(429, '<html/>'), '429.'],
  ['a lost connection', lost, 'fetch failed'],
  ['a response that ends early', cut, 'terminated'],
])('repeats a request after %s, and says why', async (_, fault, reason) => {
  const { asked, send, onRetry } = await start([fault, status(200, 'bytes')])
  const { bytes, status: last } = await send('PUT', 'key', { body: 'body' })
  expect([last, Buffer.from(bytes).toString()]).toEqual([200, 'bytes'])
  expect(asked.map(({ body }) => body)).toEqual(['body', 'body'])
  expect(onRetry).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(reason))
})

test('throws why there is no response, after so many retries', async () => {
  const { send, onRetry } = await start([lost], 0)
  await expect(send('GET', 'key')).rejects.toThrow(/^GET .*\/key: (other side closed|read ECONNRESET)\.$/)
  expect(onRetry).not.toHaveBeenCalled()
})

test('throws the words of another error at once', async () => {
  const { asked, bucket, send } = await start([status(403, DENIED)])
  await expect(send('GET', 'key')).rejects.toThrow(
    new S3Error(`GET ${bucket}/key: 403 AccessDenied. No & never.`),
  )
  expect(asked).toHaveLength(1)
})

test('sends nothing to where a bucket redirects', async () => {
  const other = await start([])
  const { asked, bucket, send } = await start([
    (_, response) => void response.writeHead(307, { Location: `${other.bucket}/key` }).end(),
  ])
  await expect(send('GET', 'key')).rejects.toThrow(
    new S3Error(`GET ${bucket}/key: 307. Check AWS_REGION and AWS_ENDPOINT_URL_S3.`),
  )
  expect([asked.length, other.asked]).toEqual([1, []])
})

test('encodes the segments of a key, and the query; an expected status is no error', async () => {
  const { asked, send } = await start([status(412)])
  const options = { query: { prefix: 'x/y' }, expected: [404, 412] }
  expect(await send('GET', 'a b/c?d=é', options)).toMatchObject({ status: 412 })
  expect(asked).toEqual([{ method: 'GET', url: '/bucket/a%20b/c%3Fd%3D%C3%A9?prefix=x%2Fy', body: '' }])
})

test('signs for the account, its region and the content', async () => {
  const seen: (string | string[] | undefined)[] = []
  const { bucket } = await start([
    ({ headers }, response) => {
      seen.push(headers.authorization, headers['x-amz-security-token'], headers['x-amz-content-sha256'])
      seen.push(headers['if-match'])
      response.end()
    },
  ])
  const send = createS3({ url: bucket, ...ACCOUNT, sessionToken: 'token' })
  await send('PUT', 'key', { body: new Uint8Array(), headers: { 'If-Match': '"1"' } })
  const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  expect(seen).toEqual([
    expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/auto\/s3\/aws4_request, SignedHeaders=.*if-match/,
    ),
    ...['token', emptySha256, '"1"'],
  ])
})

const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

test.each([
  [{}, 'https://bucket.s3.us-east-1.amazonaws.com'],
  [{ AWS_DEFAULT_REGION: 'eu-west-1', AWS_REGION: 'auto' }, 'https://bucket.s3.auto.amazonaws.com', 'auto'],
  [{ AWS_ENDPOINT_URL: 'http://one' }, 'http://one/bucket'],
  [{ AWS_ENDPOINT_URL: 'http://one', AWS_ENDPOINT_URL_S3: 'https://two//' }, 'https://two/bucket'],
])('with %j the bucket is at %s', (environment, url, region = 'us-east-1') => {
  expect(bucketOf('bucket', { ...KEYS, ...environment })).toEqual({ ...ACCOUNT, url, region })
})

test('a bucket whose name has dots is a path; a session has a token', () => {
  expect(bucketOf('a.b', { ...KEYS, AWS_SESSION_TOKEN: 'token' })).toMatchObject({
    url: 'https://s3.us-east-1.amazonaws.com/a.b',
    sessionToken: 'token',
  })
})

test.each([
  [{ ...KEYS, AWS_ENDPOINT_URL_S3: 'localhost:9000' }, 'AWS_ENDPOINT_URL_S3 must begin with https:'],
  [{ AWS_ACCESS_KEY_ID: 'id' }, 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
  [{ AWS_SECRET_ACCESS_KEY: 'secret' }, 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
])('%j is an error of settings', (environment, message) => {
  const open = () => bucketOf('bucket', environment)
  expect(open).toThrow(SettingError)
  expect(open).toThrow(message)
})
