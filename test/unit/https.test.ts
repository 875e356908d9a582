import { expect, test } from 'vitest'
import { createApp } from '../../lib/http/app.ts'
import { loggedLines } from '../fixtures/log.ts'

const lines = loggedLines()

const app = createApp()
app.get('/x', (context) => context.body('rows'))

const get = (url: string, env = {}) => app.fetch(new Request(url), env)

test.for([
  'http://api.example.com/x',
  'http://api.example.com/unknown',
  'http://127.0.0.1.example.com/x',
  'http://localhost.example.com/x',
  'http://0.0.0.0/x',
  'http://[::]/x',
])('returns 403 for %s', async (url) => {
  const response = await get(url)
  expect([response.status, await response.json()]).toEqual([
    403,
    { error: 'Plain HTTP is not served. Use https://, and rotate a key that you sent over http://.' },
  ])
  expect(response.headers.get('Strict-Transport-Security')).toBeNull()
  expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(lines).toMatchObject([{ event: 'request', status: 403 }])
})

test.for([
  'http://localhost:8787/x',
  'http://127.0.0.1:8787/x',
  'http://127.1.2.3/x',
  'http://[::1]:8787/x',
])('serves %s without Strict-Transport-Security', async (url) => {
  const { status, headers } = await get(url)
  expect([status, headers.get('Strict-Transport-Security')]).toEqual([200, null])
})

test("serves the emulator's network over http", async () => {
  expect((await get('http://192.0.2.7:8787/x', { ALLOW_HTTP: 'true' })).status).toBe(200)
})

test.for([
  ['/x', 200],
  ['/unknown', 404],
] as const)('over https, %s has both headers', async ([path, status]) => {
  const { status: received, headers } = await get(`https://api.example.com${path}`)
  expect(received).toBe(status)
  expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
})
