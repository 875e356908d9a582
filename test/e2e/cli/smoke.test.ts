import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { smoke } from '../../../cli/smoke/smoke.ts'
import { runCommand } from '../../fixtures/command.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'

const BASE = '/api/export/v1'

const db = database()
const its = await tenant(db)
const { brandId } = its
const today = new Date().toISOString().slice(0, 10)
await fillDaily(db, { name: 'visibility', brandId, rows: 1300, first: '2026-09-01', days: 9 })
await fillDaily(db, { name: 'visibility', brandId, rows: 2, first: today, days: 1 })
await fillDaily(db, { name: 'sentiment', brandId, rows: 3, first: '2026-09-01', days: 3 })

/** What the tests answer instead of the service. */
let fault: (path: string, agent: string) => Promise<Response> | undefined = () => undefined

const { fetch } = globalThis
const genuine = (path: string, key = its.key) =>
  fetch(new URL(path, inject('serviceUrl')), { headers: { 'X-API-Key': key } })

beforeEach(() => {
  // A rate budget of its own for each test.
  const client = randomUUID()
  vi.stubGlobal('fetch', (url: URL | string, init?: RequestInit) => {
    const { pathname, search } = new URL(url)
    const headers = new Headers(init?.headers)
    const agent = headers.get('User-Agent') ?? ''
    headers.set('User-Agent', client)
    return fault(pathname + search, agent) ?? fetch(url, { ...init, headers })
  })
})

afterEach(() => {
  fault = () => undefined
  vi.unstubAllGlobals()
})

async function failures(url: string, key: string): Promise<string> {
  const lines: string[] = []
  for await (const { name, failure } of smoke({ url, key })) {
    if (failure !== undefined) lines.push(`${name}: ${failure}`)
  }
  return lines.join('\n')
}

test('a healthy service gives a table without failures; metrics are read to the second page', async () => {
  const args = ['--url', `${inject('serviceUrl')}${BASE}/`]
  const { code, stdout, stderr } = await runCommand('smoke.ts', args, { EXPORT_API_KEY: its.key })
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  const table = Object.fromEntries(lines.map((line) => [line.slice(0, 20).trim(), line.slice(21)]))
  expect(table).toMatchObject({
    healthz: 'ok',
    'other clients': 'served',
    'a wrong key': 'rejected',
    brands: '1 row',
    visibility: '1000 rows, then 302',
    sentiment: '3 rows',
    citations: '0 rows',
    'a file': '2 rows',
  })
  expect(table['openapi.json']).toBe(`${lines.length - 5} paths`)
})

test('--without-key runs only the checks that need no key', async () => {
  const open = await runCommand('smoke.ts', ['--url', inject('serviceUrl'), '--without-key'], {})
  expect(open).toMatchObject({ code: 0, stdout: expect.stringContaining('a wrong key') })
  expect(open.stdout).not.toContain('brands ')
})

test.for([
  ['a missing key', ['--url', 'https://api.example.com'], 'EXPORT_API_KEY'],
  ['a malformed URL', ['--url', 'api.example.com', '--key', 'x'], 'URL of the service'],
  ['a malformed key', ['--url', 'https://api.example.com', '--key', 'a\nb'], 'The key has characters'],
] as const)('%s is one sentence', async ([, args, message]) => {
  const { code, stdout, stderr } = await runCommand('smoke.ts', args, {})
  expect([code, stdout, stderr.trim().split('\n')]).toEqual([1, '', [expect.stringContaining(message)]])
})

/** The service's response with another body. */
const change = (edit: (body: string) => string) => async (path: string) => {
  const answer = await genuine(path)
  return new Response(edit(await answer.text()), answer)
}
test.for<[string, string, (path: string) => Promise<Response>, RegExp]>([
  [
    'a value of another type',
    'visibility',
    change((body) => body.replace(/"total_prompts":\d+/, '"total_prompts":"many"')),
    /^visibility: 200 of .*\/visibility: .*total_prompts must be integer/m,
  ],
  [
    'a page of another site',
    'brands',
    () => Promise.resolve(new Response('<h1>Hello</h1>')),
    /^brands: .* returned 200 with a non-JSON body/m,
  ],
  [
    'a repeated page',
    'visibility',
    (path) => genuine(path.replace(/[?&]cursor=[^&]+/, '')),
    /^visibility: The second page repeats a row\.$/m,
  ],
  [
    'a file with another row',
    'visibility?brandId=',
    (path) =>
      path.includes('ndjson') ? Promise.resolve(new Response('{"date":"2026-10-01"}\n')) : genuine(path),
    /^a file: The file differs from the first page\.$/m,
  ],
  [
    'a gateway that repeats the key',
    'visibility?brandId=',
    (path) => {
      const error = `\u001b${its.key} ${its.key.toUpperCase()} `.padEnd(970) + its.key.repeat(5000)
      return path.includes('ndjson')
        ? Promise.resolve(Response.json({ error }, { status: 400 }))
        : genuine(path)
    },
    /^a file: Expected 200, got 400: {2}<API key> <API key> +(<API key>)+<?\w*$/m,
  ],
  ['a wrong key that works', 'brands', (path) => genuine(path), /^a wrong key: Expected 401, got 200\.$/m],
])('%s is one failure, without the key', async ([, endpoint, answer, message]) => {
  fault = (path) => (path.startsWith(`${BASE}/${endpoint}`) ? answer(path) : undefined)
  const found = await failures(inject('serviceUrl'), its.key)
  expect(found).toMatch(message)
  expect(found).not.toContain(its.key.slice(0, 20))
  expect(found.length).toBeLessThan(1100)
})

test('an answer to a User-Agent that comes from no Worker is a failure', async () => {
  const blocked = { status: 403, headers: { Server: 'cloudflare' } }
  fault = (_, agent) =>
    agent.startsWith('Python-urllib/')
      ? Promise.resolve(new Response('error code: 1010', blocked))
      : undefined
  const found = await failures(inject('serviceUrl'), its.key)
  expect(found).toMatch(
    /^other clients: Python-urllib\S+: .*returned 403 with a non-JSON body\. .*docs\/deploy\.md#before-the-workers/,
  )
})

test('an unknown key and an unreachable host are failures', async () => {
  const unknown = `svc_live_${'0'.repeat(64)}`
  const found = await failures(inject('serviceUrl'), unknown)
  expect(found).toMatch(/^brands: Expected 200, got 401: API key/m)
  expect(found).not.toContain(unknown)
  expect(await failures('http://127.0.0.1:2', its.key)).toContain(
    'Cannot reach http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2.',
  )
})
