import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Service } from '../../../cli/smoke/ask.ts'
import { smoke } from '../../../cli/smoke/smoke.ts'
import { runCommand } from '../../support/command.ts'
import { fillDaily } from '../../support/daily.ts'
import { type Tenant, tenant } from '../../support/tenant.ts'
import { database } from '../../support/world.ts'

const db = database()
let its: Tenant
let server: Server
let broken = ''

/** What stands in front of the service: it answers some paths itself, and leaves the others to the service. */
let instead: (path: string) => Promise<Response> | undefined = () => undefined

const genuine = (path: string) =>
  fetch(new URL(path, inject('serviceUrl')), { headers: { 'X-API-Key': its.key } })

beforeAll(async () => {
  its = await tenant(db)
  await fillDaily(db, { name: 'visibility', brandId: its.brandId, rows: 1300, first: '2026-09-01', days: 9 })
  await fillDaily(db, { name: 'sentiment', brandId: its.brandId, rows: 3, first: '2026-09-01', days: 3 })
  server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    const key = request.headers['x-api-key']
    const headers = typeof key === 'string' ? { 'X-API-Key': key } : {}
    const answer = await (instead(path) ?? fetch(new URL(path, inject('serviceUrl')), { headers }))
    const body = Buffer.from(await answer.arrayBuffer())
    const kept = [...answer.headers].filter(
      ([name]) => !/^(content-encoding|content-length|transfer-)/.test(name),
    )
    response.writeHead(answer.status, Object.fromEntries(kept)).end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  broken = addressOf(server)
})

afterAll(() => {
  server.close()
})

const command = (url: string, key = its.key) =>
  runCommand('smoke.ts', ['--url', url], { EXPORT_API_KEY: key })

/** What is wrong with a service, a line each. */
async function complaints(service: Service): Promise<string> {
  const lines: string[] = []
  for await (const { what, failure } of smoke(service)) {
    if (failure !== undefined) lines.push(`${what}: ${failure}`)
  }
  return lines.join('\n')
}

function addressOf(listening: Server): string {
  const address = listening.address()
  return typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : ''
}

test('a service that is well has a table and no complaint, its pages followed by one', async () => {
  const { code, stdout, stderr } = await command(`${inject('serviceUrl')}/api/export/v1/`)
  expect([code, stderr]).toEqual([0, ''])
  const table = Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, 20).trim(), line.slice(21)]),
  )
  expect(table).toMatchObject({
    'openapi.json': '7 paths',
    healthz: 'ok',
    'a wrong key': 'refused',
    brands: '1 row',
    visibility: '1000 rows, then 300',
    sentiment: '3 rows',
    citations: '0 rows',
  })
  expect(Object.keys(table)).toHaveLength(10)
})

test('without a key only what is open is tried, when that is asked for', async () => {
  const open = await runCommand('smoke.ts', ['--url', inject('serviceUrl'), '--without-key'], {})
  expect(open.code).toBe(0)
  expect(open.stdout).toContain('a wrong key')
  expect(open.stdout).not.toContain('brands')
  const forgotten = await runCommand('smoke.ts', ['--url', inject('serviceUrl')], {})
  expect(forgotten).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EXPORT_API_KEY') })
})

test.for([
  ['no address', []],
  ['an address that is none', ['--url', 'api.example.com']],
  ['a wait that is no number', ['--url', 'https://api.example.com', '--wait', 'long']],
] as const)('%s is one sentence', async ([, args]) => {
  const { code, stdout, stderr } = await runCommand('smoke.ts', args, { EXPORT_API_KEY: its.key })
  expect([code, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1])
})

/** Answers as the service does, but with another body. */
async function changed(path: string, change: (body: string) => string): Promise<Response> {
  const answer = await genuine(path)
  return new Response(change(await answer.text()), answer)
}

const at = (name: string) => (path: string) => path.startsWith(`/api/export/v1/${name}`)

test.for([
  [
    'a row that is not what the document says',
    (path: string) =>
      at('visibility')(path)
        ? changed(path, (body) => body.replace(/"total_prompts":\d+/, '"total_prompts":"many"'))
        : undefined,
    /^visibility: 200 of .*\/visibility: .*total_prompts must be integer/m,
  ],
  [
    'a field that is not there',
    (path: string) =>
      at('sentiment')(path)
        ? changed(path, (body) => body.replace(/"neutral_mentions":\d+,/, ''))
        : undefined,
    /^sentiment: .*must have required property 'neutral_mentions'/m,
  ],
  [
    'a failure of the service',
    (path: string) =>
      at('citations')(path)
        ? Promise.resolve(
            Response.json(
              { error: 'Something went wrong on our side.' },
              { status: 500, headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'x' } },
            ),
          )
        : undefined,
    /^citations: 500 of .*\/citations is not described/m,
  ],
  [
    'a page of somebody else',
    (path: string) => (at('brands')(path) ? Promise.resolve(new Response('<h1>Hello</h1>')) : undefined),
    /^brands: .* answered 200 and no JSON: this is not the service\.$/m,
  ],
  [
    'a second page that repeats the first',
    (path: string) =>
      at('visibility')(path) && path.includes('cursor=')
        ? genuine(path.replace(/[?&]cursor=[^&]+/, ''))
        : undefined,
    /^visibility: Its second page repeats a row\.$/m,
  ],
  [
    'a wrong key that is let in',
    (path: string) => (at('brands')(path) ? genuine(path) : undefined),
    /^a wrong key: It answered 200 instead of 401\.$/m,
  ],
  [
    'a document that is another one',
    (path: string) =>
      at('openapi')(path) ? Promise.resolve(Response.json({ openapi: '3.0.0', paths: {} })) : undefined,
    /^openapi\.json: It is not the API's OpenAPI 3\.1 document/m,
  ],
  [
    'a database that is away',
    (path: string) =>
      at('healthz')(path)
        ? Promise.resolve(Response.json({ error: 'The data cannot be read right now.' }, { status: 503 }))
        : undefined,
    /^healthz: It answered 503 instead of 200: The data cannot be read right now\.$/m,
  ],
] as const)('%s is named in a sentence', async ([, fault, sentence]) => {
  instead = fault
  const found = await complaints({ url: broken, key: its.key })
  expect(found).toMatch(sentence)
  expect(found).not.toContain(its.key)
})

test('a key that is not known, and a host that is not there, are named', async () => {
  const unknown = `svc_live_${'0'.repeat(64)}`
  const refused = await command(inject('serviceUrl'), unknown)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(
    'brands: It answered 401 instead of 200: The API key is missing or not valid.',
  )
  expect(refused.stdout + refused.stderr).not.toContain(unknown)
  const gone = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => gone.once('listening', resolve))
  const nowhere = addressOf(gone)
  await new Promise((resolve) => gone.close(resolve))
  expect(await complaints({ url: nowhere, key: its.key })).toContain(
    'cannot be reached: connect ECONNREFUSED',
  )
})
