import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from '../../emulator/workers/outbound.ts'
import { WIRE } from './connections.ts'
import { answering, type Fault, reshaping, rewriting } from './fault.ts'

// What each malformed result and error is logged as: test/unit/db.test.ts, test/unit/page.test.ts, test/unit/rate-limit.test.ts.

const PAGE = '<!doctype html><title>secret detail</title><h1>select 1 from postgres</h1>'

const text = (name: string, body: string, type = 'application/json'): Fault =>
  answering(`answers ${name}`, () => new Response(body, { headers: { 'Content-Type': type } }))

/** Answers that no server of either protocol gives. */
const GARBAGE: readonly Fault[] = [
  ...[400, 401, 404, 429, 500, 502, 503, 504, 520].map((status) =>
    answering(
      `answers ${status} with a page`,
      () => new Response(PAGE, { status, headers: { 'Retry-After': '3600' } }),
    ),
  ),
  answering(
    'redirects',
    () => new Response(null, { status: 307, headers: { Location: 'https://elsewhere.test/secret-detail' } }),
  ),
  answering('answers no content', () => new Response(null, { status: 204 })),
  answering(
    'announces a compression that it does not use',
    () => new Response('{"rows":[]}', { headers: { 'Content-Encoding': 'gzip' } }),
  ),
  text('nothing', ''),
  text('a web page', PAGE, 'text/html'),
  text('null', 'null'),
  text('an empty object', '{}'),
  text('an error as a success', '{"message":"secret detail","code":"57P01","error":"ERR secret detail"}'),
  rewriting('leaves out the last character', (whole) => whole.slice(0, -1)),
  rewriting('answers twice in one', (whole) => whole + whole),
  {
    name: 'names no type',
    harmless: true,
    strike: async (genuine) => new Response(await (await genuine()).arrayBuffer()),
  },
]

/** Neon's proxy tries for this time to reach a compute that restarts. */
const COMPUTE_WAIT_MS = 3_000

const failed = (status: number, message: string, code = ''): Response =>
  Response.json({ message, code, severity: 'FATAL', detail: 'secret detail', where: 'select' }, { status })

const members = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? { ...body } : {}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const overRows = (name: string, change: (rows: readonly unknown[]) => readonly unknown[]): Fault =>
  reshaping(name, (body) => ({ ...members(body), rows: change(list(members(body).rows)) }))

/** Failed statements, and results of another shape. */
const NEON_FAULTS: readonly Fault[] = [
  ...['08006', '57014', '57P01', ''].map((code) =>
    answering(`fails with SQLSTATE "${code}"`, () => failed(400, 'secret detail in select', code)),
  ),
  answering('has too many connections', () => failed(500, 'sorry, too many clients already', '53300')),
  answering('has too large a response', () => failed(507, 'response is too large (max is 10485760 bytes)')),
  {
    name: 'reaches its restarted compute at the last attempt',
    harmless: true,
    strike: async (genuine) => {
      await delay(COMPUTE_WAIT_MS)
      return genuine()
    },
  },
  {
    name: 'does not reach its compute',
    strike: async () => {
      await delay(COMPUTE_WAIT_MS)
      return failed(500, "Couldn't connect to compute node")
    },
  },
  overRows('loses every row', () => []),
  overRows('doubles its rows', (rows) => [...rows, ...rows]),
  overRows('gives rows that are too short', (rows) => rows.map((row) => list(row).slice(0, -1))),
  overRows('gives nulls for cells', (rows) => rows.map((row) => list(row).map(() => null))),
]

const counting = (name: string, result: unknown): Fault =>
  answering(`gives ${name} for a count`, () => Response.json({ result }))

const UPSTASH_FAULTS: readonly Fault[] = [
  ...[400, 401, 429].map((status) =>
    answering(`answers ${status} with an error`, () =>
      Response.json({ error: 'ERR secret detail' }, { status }),
    ),
  ),
  counting('null', null),
  counting('a text', Buffer.from('secret detail').toString('base64')),
  counting('one number', [1]),
]

/** Every fault of each server that ends within three seconds or so; those that do not are `SILENCES`. */
export const FAULTS: Readonly<Record<Service, readonly Fault[]>> = {
  neon: [...WIRE, ...GARBAGE, ...NEON_FAULTS],
  upstash: [...WIRE, ...GARBAGE, ...UPSTASH_FAULTS],
}
