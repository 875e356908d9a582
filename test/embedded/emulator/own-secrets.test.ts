import { randomUUID } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import { afterAll, expect, inject, test } from 'vitest'
import { type Emulator, startEmulator } from '../../../emulator/emulator.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'

// What only one start of the service knows: the secret of its cursors, and what opens its bucket.

const start = () =>
  startEmulator({
    ...{ host: '127.0.0.1', port: 0, databaseUrl: inject('databaseUrl') },
    ...{ bundle: false, crons: false },
  })
const [service, other] = [await start(), await start()]
afterAll(() => Promise.all([service.close(), other.close()]))

/** Sends a request by the S3 API with credentials; the service's own unless said otherwise. */
async function ask({ bucket }: Emulator, method: string, key: string, credentials: object = bucket) {
  const client = new AwsClient({ ...bucket, ...credentials, service: 's3', retries: 0 })
  const { status } = await client.fetch(`${bucket.url}/${key}`, {
    method,
    ...(method === 'PUT' && { body: 'rows' }),
  })
  return status
}

const LOCAL = { accessKeyId: 'local', secretAccessKey: 'local' }

test('only the credentials of this start open the bucket', async () => {
  expect(await ask(service, 'PUT', 'x')).toBe(200)
  expect(await ask(service, 'GET', 'x')).toBe(200)
  for (const credentials of [LOCAL, { ...LOCAL, accessKeyId: service.bucket.accessKeyId }, other.bucket]) {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect([401, 403]).toContain(await ask(service, method, 'x', credentials))
  }
  const { url } = service.bucket
  const s3 = url.replace(/\/[^/]*$/, '')
  for (const each of [s3, url, `${url}/x`]) {
    const response = await fetch(each)
    expect(response.status).toBe(400)
    expect(await response.text()).not.toContain(url.replace(/.*\//, ''))
  }
})

test('no client reads objects without the secret id of the bucket', async () => {
  await ask(service, 'PUT', 'x')
  const id = service.bucket.url.replace(/.*\//, '')
  const read = async (bucket: string) =>
    (await fetch(`${service.url}/cdn-cgi/local/r2/public/${bucket}/x`)).status
  expect(await read(id)).toBe(200)
  for (const other of ['share', 'BUCKET', '', randomUUID(), id.toUpperCase()])
    expect(await read(other), other).toBe(404)
})

// What miniflare has at its own paths: CorePaths in node_modules/miniflare/dist/src/index.js.
test('nothing else below /cdn-cgi answers', async () => {
  for (const path of ['handler/scheduled', 'mf/scheduled', 'mf/reload', 'explorer']) {
    const headers = { 'MF-Route-Override': 'refresh' }
    const { status } = await fetch(`${service.url}/cdn-cgi/${path}`, { headers })
    expect([404, 500], path).toContain(status)
    expect(service.subrequests(), path).toEqual({ neon: 0, upstash: 0 })
  }
})

test('a service without a secret signs cursors with one of its own', async () => {
  const { brandId, key } = await tenant(database())
  await fillDaily(database(), { name: 'citations', brandId, rows: 1001, first: '2026-10-01', days: 1 })
  const page = ({ url }: Emulator, cursor: string) => {
    const query = new URLSearchParams({ brandId, fromDate: '2026-10-01', cursor })
    return fetch(`${url}/api/export/v1/citations?${query}`, { headers: { 'X-API-Key': key } })
  }
  const { pagination } = await (await page(service, '')).json()
  const statuses = [service, other].map(async (each) => (await page(each, pagination.nextCursor)).status)
  expect(await Promise.all(statuses)).toEqual([200, 400])
})
