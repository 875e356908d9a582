import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { pathOf, readWorkers, type WorkerConfig } from '../../cli/workers/wrangler-config.ts'
import type { Emulator } from '../../emulator/emulator.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { BASE } from '../../lib/http/app.ts'
import { runCommand } from '../fixtures/command.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { exportKey } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

/** A secret that is nowhere else, of letters that every encoding is sure to change. */
const mark = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`

/** Every secret that is anywhere near the service, by name. */
const secrets: Record<string, string> = Object.fromEntries(
  ['password', 'token', 'cursor', 'previous', 'cookie', 'authorization'].map((name) => [name, mark(name)]),
)
const { password = '', token = '', cursor = '', previous = '', cookie = '', authorization = '' } = secrets

const VARS = {
  UPSTASH_REDIS_REST_TOKEN: token,
  CURSOR_SECRET: cursor,
  CURSOR_SECRET_PREVIOUS: previous,
  SESSION_COOKIE: 'sid',
}

/** All output of the service, by its kind. */
const said: Record<'logs' | 'answers' | 'questions' | 'redis' | 'commands', string[]> = {
  logs: [],
  answers: [],
  questions: [],
  redis: [],
  commands: [],
}
const statuses = new Set<number>()

let workers: WorkerConfig[]
let paths: string[]
let database: Awaited<ReturnType<typeof isolatedDatabase>>
let db: pg.Pool
let service: Emulator
let misconfigured: Emulator
let its: Tenant
let keys: Record<string, string>
let fault: Intercept = () => undefined

const start = (vars: Record<string, string>) =>
  startOwnService({
    databaseUrl: database.url,
    redisUrl: inject('redisUrl') || undefined,
    vars,
    intercept: (server, request, genuine) => {
      const copy = request.clone()
      return copy.text().then((text) => {
        said.questions.push(`${request.url} ${text}`)
        return fault(server, request, genuine)
      })
    },
    onLog: (line) => said.logs.push(line),
  })

beforeAll(async () => {
  workers = await readWorkers()
  paths = workers.flatMap(({ routes }) => routes.map(pathOf))
  paths.push(`${BASE}/openapi.json`, '/api/sharing/v1/shares')
  database = await isolatedDatabase()
  db = new pg.Pool({ connectionString: database.url, max: 4 })
  its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 1001, first: '2026-10-01', days: 1 })
  const past = new Date(Date.now() - 1)
  keys = {
    live: its.key,
    lite: (await tenant(db, { plan: 'lite' })).key,
    revoked: (await exportKey(db, its.org, { revoked_at: past })).key,
    expired: (await exportKey(db, its.org, { expires_at: past })).key,
    unknown: `svc_live_${mark('').slice(1).repeat(3).slice(0, 64)}`,
  }
  for (const [name, key] of Object.entries(keys)) secrets[name] = key.slice('svc_live_'.length)
  const { pathname } = new URL(database.url)
  const reader = `postgresql://export_api_reader:${password}@ep-local.neon.test${pathname}`
  service = await start({ ...VARS, DATABASE_URL: reader })
  misconfigured = await start({ ...VARS, DATABASE_URL: `mysql://export:${password}@db.example/export` })
})

afterAll(async () => {
  await Promise.all([service?.close(), misconfigured?.close(), db?.end()])
  await database?.drop()
})

type Sent = {
  key?: string | undefined
  query?: Record<string, string>
  headers?: Record<string, string>
  method?: string
}

/** Sends a request full of secrets, and keeps all that is answered. */
async function send(path: string, { key, query = {}, headers = {}, method = 'GET' }: Sent = {}) {
  const url = new URL(service.url + path)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return keep(
    await fetch(url, {
      method,
      headers: {
        ...(key !== undefined && { 'X-API-Key': key }),
        // A budget of its own each time.
        Cookie: `sid=${cookie}${randomUUID()}; other=${cookie}`,
        Authorization: `Bearer ${authorization}`,
        'X-Request-Id': keys.live ?? '',
        'User-Agent': authorization,
        ...headers,
      },
    }),
  )
}

async function keep(response: Response): Promise<Response> {
  statuses.add(response.status)
  const text = await response.clone().text()
  said.answers.push(`${response.url} ${response.status}`.replace(/\?.*/, ''))
  said.answers.push(`${JSON.stringify([...response.headers])} ${text}`)
  return response
}

/** Valid and invalid requests to a path. */
async function askEverything(path: string): Promise<void> {
  const query = { brandId: its.brandId, fromDate: '2026-10-01', toDate: '2026-10-01' }
  const { key } = its
  const everything = Object.values(secrets).join('-')
  const first = await send(path, { key, query: { ...query, api_key: key, token: authorization } })
  const ETag = first.headers.get('ETag')
  await Promise.all([
    ...Object.values(keys).map((each) => send(path, { key: each, query })),
    ...Object.values(keys).map((each) => send(path, { query, headers: { Authorization: `Bearer ${each}` } })),
    ...[`${key}0`, key.toUpperCase(), `"${key}"`, ` ${key}`].map((each) => send(path, { key: each, query })),
    ...['brandId', 'fromDate', 'cursor'].map((name) =>
      send(path, { key, query: { ...query, [name]: everything } }),
    ),
    send(`${path}/${everything}`, { key }),
    send(path, { key, query: { ...query, brandId: randomUUID() } }),
    send(path, { key, query, method: 'HEAD' }),
    send(path, { key, query, method: 'POST' }),
    send(path, { key, query, headers: ETag === null ? {} : { 'If-None-Match': ETag } }),
  ])
}

const faults: readonly ((request: Request) => Promise<Response>)[] = [
  () => Promise.resolve(new Response('away', { status: 502 })),
  () => Promise.resolve(new Response('{"rows":[["[\\"cut', { status: 200 })),
  // Servers that repeat the request.
  ...[200, 400, 401, 500].map((status) => async (request: Request) => {
    const quoted = `${JSON.stringify([...request.headers])} ${Object.values(secrets).join(' ')}`
    return Response.json({ error: quoted, message: quoted, code: quoted, detail: quoted }, { status })
  }),
  async (request) => new Response(`${JSON.stringify([...request.headers])}`, { status: 200 }),
]

describe('traffic, faults and commands', () => {
  // A bucket is gone within a minute.
  afterEach(async () => {
    said.redis.push(...(await storedValues(service)))
  })

  test('every path receives valid and invalid requests', async () => {
    for (const path of [...paths, '/nothing']) await askEverything(path)
  })

  test('a client exceeds its budget', async () => {
    const headers = { Cookie: `sid=${cookie}` }
    const ask = async () => (await send(`${BASE}/openapi.json`, { headers })).status
    // Ten at a time: a counter that a burst keeps waiting is not waited for. A refill lets a few more pass.
    while ((await ask()) === 200) await Promise.all(Array.from({ length: 10 }, ask))
    for (const path of paths) await send(path, { key: its.key, headers })
  })

  test.each(['neon', 'upstash'])('%s fails in every way, under requests and crons', async (server) => {
    for (const answer of faults) {
      fault = (asked, request) => (asked === server ? answer(request) : undefined)
      await Promise.all(paths.map((path) => send(path, { key: its.key, query: { brandId: its.brandId } })))
      for (const { name, crons } of workers) if (crons.length > 0) await service.runCron(name).catch(() => {})
    }
    fault = () => undefined
  })

  test('crons run', async () => {
    for (const { name, crons } of workers) if (crons.length > 0) await service.runCron(name)
  })

  test('the environment is invalid', async () => {
    for (const path of paths) {
      const headers = { 'X-API-Key': its.key, Authorization: `Bearer ${authorization}` }
      await keep(await fetch(misconfigured.url + path, { headers }))
    }
    for (const { name, crons } of workers)
      if (crons.length > 0) await misconfigured.runCron(name).catch(() => {})
    const failed = said.logs.filter((line) => line.includes('"event":"unhandled_error"'))
    // An unknown path and the reference read nothing of the environment.
    expect(failed.length).toBeGreaterThan(paths.length / 2)
    for (const line of failed) expect(JSON.parse(line).message).toMatch(/ DATABASE_URL is malformed$/)
  })

  test('keys are made, listed and revoked, and commands fail', async () => {
    const url = new URL(database.url)
    url.password = password
    const as = ['--org', its.org.id, '--user', its.org.owner]
    const run = async (file: string, args: readonly string[], DATABASE_URL = url.href) => {
      const ran = await runCommand(file, args, { DATABASE_URL })
      said.commands.push(ran.stdout, ran.stderr)
      return ran
    }

    const made = await run('keys.ts', ['create', ...as, '--label', 'A loader', '--json'])
    const { id, key }: { id: string; key: string } = JSON.parse(made.stdout)
    expect(made.stdout.split(key)).toHaveLength(2)
    said.commands.splice(said.commands.indexOf(made.stdout), 1, made.stdout.replace(key, ''))
    Object.assign(secrets, { made: key.slice('svc_live_'.length) })
    for (const path of paths) await send(path, { key, query: { brandId: its.brandId } })

    expect((await run('keys.ts', ['list', ...as])).code).toBe(0)
    expect((await run('keys.ts', ['list', ...as, '--json'])).stdout).toContain(id)
    expect((await run('keys.ts', ['revoke', ...as, '--key', id])).code).toBe(0)
    expect((await run('keys.ts', ['revoke', ...as, '--key', key])).code).toBe(64)
    for (const file of ['migrate.ts', 'refresh.ts']) expect((await run(file, [])).code).toBe(0)
    await run('verify.ts', [])

    const elsewhere = new URL(url)
    elsewhere.port = '1'
    const wrong = [elsewhere.href, `mysql://me:${password}@db.example/x`, `postgres://me:${password}@`]
    for (const address of wrong) expect((await run('refresh.ts', [], address)).code).toBe(1)
    for (const file of ['migrate.ts', 'seed.ts', 'verify.ts']) {
      expect((await run(file, [], elsewhere.href)).code).toBe(1)
    }
  }, 240_000)
})

describe('no secret, in any spelling, is in', () => {
  test('(every status and log event was seen)', async () => {
    expect([...statuses].sort()).toEqual([200, 304, 400, 401, 403, 404, 405, 429, 500, 503])
    const events = new Set(said.logs.flatMap((line) => /"event":"(\w+)"/.exec(line)?.[1] ?? []))
    expect([...events].sort()).toEqual([
      'database_error',
      'published',
      'rate_limit_unavailable',
      'request',
      'unhandled_error',
    ])
    for (const texts of Object.values(said)) expect(texts.length).toBeGreaterThan(10)
    expect(said.answers.some((text) => text.includes('rel=\\"next\\"'))).toBe(true)
  })

  test.each([
    ['the logs', () => said.logs],
    ['answers and their headers', () => said.answers.filter((text) => !text.startsWith('http'))],
    ['statements and commands on their way to the servers', () => said.questions],
    ['what commands print', () => said.commands],
    ['Redis', () => said.redis],
    ['the database', () => storedRows(db)],
  ] as const)('%s', async (_, read) => {
    const texts = await read()
    expect(texts.length).toBeGreaterThan(0)
    const found = new Map(texts.flatMap((text) => leaks(text, secrets).map((name) => [name, text])))
    expect([...found].map(([name, text]) => `${name}: ${text.slice(0, 400)}`)).toEqual([])
  })
})

/** A secret as it stands in a text: plain, in hex, or in base64 wherever it begins there. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const shifted = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // The characters at both ends are shared with the neighbours of the secret.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [
    secret,
    bytes.toString('hex'),
    ...shifted,
    encodeURIComponent(secret),
    [...secret].reverse().join(''),
  ]
}

/** Returns the names of the secrets in a text, in any spelling. */
function leaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const plain = text.toLowerCase()
  const base64 = plain.replaceAll('+', '-').replaceAll('/', '_')
  return Object.entries(secrets)
    .filter(([, secret]) =>
      spellings(secret).some((each) => [plain, base64].some((where) => where.includes(each.toLowerCase()))),
    )
    .map(([name]) => name)
}

/** Every key of the service's Redis with its value. */
async function storedValues({ redis }: Pick<Emulator, 'redis'>): Promise<string[]> {
  const ask = async (...command: string[]): Promise<unknown> => {
    const reply = await redis(command)
    if ('error' in reply) throw new Error(reply.error)
    return reply.result
  }
  const keys = await ask('KEYS', '*')
  if (!Array.isArray(keys)) throw new TypeError('KEYS gave no list')
  return Promise.all(
    keys.map(async (key) => `${key} ${JSON.stringify(await ask(...(await readerOf(String(key)))))}`),
  )

  async function readerOf(key: string): Promise<string[]> {
    const type = String(await ask('TYPE', key))
    if (type === 'string') return ['GET', key]
    if (type === 'hash') return ['HGETALL', key]
    // It expired in the meantime.
    if (type === 'none') return ['EXISTS', key]
    throw new Error(`No command reads a ${type}`)
  }
}

/** Every row of every table of a database, as JSON. */
async function storedRows(db: pg.Pool): Promise<string[]> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: string }>(
      `select to_jsonb(each)::text as row from ${name} as each`,
    )
    found.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return found
}
