import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { pathOf, readWorkers } from '../../cli/workers/wrangler-config.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const workers = await readWorkers()
const paths = workers.flatMap(({ routes }) => routes.map(pathOf))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Line = Readonly<Record<string, unknown>>

let lines: Line[] = []

const service = await startOwnService({
  onLog: (line) => lines.push(JSON.parse(line)),
})
afterAll(() => service.close())

beforeEach(() => {
  lines = []
})

type Sent = Partial<Tenant> & { headers?: Record<string, string>; method?: string }

async function send(path: string, { key, brandId, headers = {}, method = 'GET' }: Sent = {}) {
  const url = new URL(path.startsWith('/api') ? path : `/api/export/v1${path}`, service.url)
  if (brandId !== undefined) url.searchParams.set('brandId', brandId)
  return fetch(url, {
    method,
    headers: { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }), ...headers },
  })
}

/** Sends a request and gives its answer with its one line. */
async function logged(path: string, sent: Sent = {}): Promise<{ answer: Response; line: Line }> {
  const id = randomUUID()
  const answer = await send(path, { ...sent, headers: { 'X-Request-Id': id, ...sent.headers } })
  await answer.arrayBuffer()
  await expect.poll(() => requests().filter(({ request_id }) => request_id === id)).toHaveLength(1)
  const [line = {}] = requests().filter(({ request_id }) => request_id === id)
  return { answer, line }
}

const requests = () => lines.filter(({ event }) => event === 'request')

const NOTHING = { key_id: null, organization_id: null, rows: null }

test('the line of a request names the key, the endpoint and the cost', async () => {
  const its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 7, first: '2026-10-01', days: 1 })
  await logged('/brands', its)
  const { line, answer } = await logged('/citations?fromDate=2026-10-01&toDate=2026-10-01', its)
  expect(line).toEqual({
    event: 'request',
    request_id: expect.stringMatching(UUID),
    key_hash: createHash('sha256').update(its.key).digest('hex').slice(0, 16),
    key_id: its.keyId,
    organization_id: its.org.id,
    method: 'GET',
    endpoint: '/citations',
    status: 200,
    rows: 7,
    ms: expect.any(Number),
    subrequests: { neon: 1, upstash: 1 },
  })
  expect(answer.headers.get('Server-Timing')).toMatch(/^(db;dur=\d+, budget|budget;dur=\d+, db);dur=\d+$/)
  expect((await logged('/brands', its)).line).toMatchObject({ status: 200, rows: 1 })
})

test('every error is logged with what was known by then', async () => {
  const [its, lite] = [await tenant(db), await tenant(db, { plan: 'lite' })]
  const known = { key_id: its.keyId, organization_id: its.org.id, rows: null }
  const refused = { key_id: lite.keyId, organization_id: lite.org.id, rows: null }
  const endpoint = '/visibility'
  const cases: readonly (readonly [string, Sent, Line])[] = [
    ['/api/export/v1/svc_live_nothing', {}, { ...NOTHING, status: 404, endpoint: null }],
    [endpoint, {}, { ...NOTHING, status: 401, endpoint, subrequests: { neon: 0, upstash: 1 } }],
    [endpoint, lite, { ...refused, status: 403, endpoint }],
    [endpoint, { key: its.key }, { ...known, status: 400, endpoint }],
    [endpoint, { key: its.key, brandId: lite.brandId }, { ...known, status: 404, endpoint }],
  ]
  for (const [path, sent, line] of cases) expect((await logged(path, sent)).line).toMatchObject(line)
})

// Which ids a client may choose: test/unit/app.test.ts.
test('X-Request-Id is on every response of every Worker', async () => {
  const its = await tenant(db)
  for (const path of paths) {
    const answers = [send(path, its), send(path), send(path, { method: 'DELETE' }), send(`${path}/nothing`)]
    for (const { headers } of await Promise.all(answers)) {
      expect(headers.get('X-Request-Id'), path).toMatch(UUID)
    }
  }
})
