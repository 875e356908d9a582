import { answering, type Fault } from './fault.ts'

/** Error statuses of servers, proxies and edges. */
const STATUSES = [
  400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 525, 526, 530,
]

const web = (status: number): Response =>
  new Response(`<h1>${status}</h1> secret detail: select`, { status, headers: { 'Retry-After': '3600' } })

const json = (status: number): Response =>
  Response.json({ message: 'secret detail', error: 'ERR secret detail', code: '' }, { status })

/** Every error status, and redirects. */
export const STATUS_FAULTS: readonly Fault[] = [
  ...STATUSES.map((status) => answering(`answers ${status} with a page`, () => web(status))),
  ...[400, 401, 403, 429, 500, 503].map((status) =>
    answering(`answers ${status} with JSON`, () => json(status)),
  ),
  ...[302, 307].map((status) =>
    answering(
      `answers ${status} to elsewhere`,
      () => new Response(null, { status, headers: { Location: 'https://elsewhere.test/secret-detail' } }),
    ),
  ),
  answering(
    'answers 302 to itself for ever',
    () => new Response(null, { status: 302, headers: { Location: '?' } }),
  ),
  answering('answers 304', () => new Response(null, { status: 304 })),
  answering('answers 400 with nothing', () => new Response(null, { status: 400 })),
]
