import { answering, type Fault, rewriting } from './fault.ts'

const json = (name: string, body: unknown): Fault => answering(`answers ${name}`, () => Response.json(body))

const text = (name: string, body: string, type = 'application/json'): Fault =>
  answering(`answers ${name}`, () => new Response(body, { headers: { 'Content-Type': type } }))

const FAILURE = { message: 'secret detail', error: 'ERR secret detail', code: '' }

const PAGE = '<!doctype html><title>secret detail</title><h1>select 1 from postgres</h1>'

/** Error statuses of servers, proxies and edges. */
const STATUSES = [
  400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 525, 526, 530,
]

const error = (status: number, kind: string, body: string): Fault =>
  answering(
    `answers ${status} with ${kind}`,
    () => new Response(body, { status, headers: { 'Retry-After': '3600' } }),
  )

const redirect = (status: number, Location: string): Fault =>
  answering(`answers ${status} to ${Location}`, () => new Response(null, { status, headers: { Location } }))

/** Answers that no server of this protocol gives. */
export const GARBAGE: readonly Fault[] = [
  ...STATUSES.map((status) => error(status, 'a page', PAGE)),
  ...[400, 401, 403, 429, 500, 503].map((status) => error(status, 'JSON', JSON.stringify(FAILURE))),
  redirect(302, 'https://elsewhere.test/secret-detail'),
  redirect(307, 'https://elsewhere.test/secret-detail'),
  redirect(302, '?'),
  answering('answers 304', () => new Response(null, { status: 304 })),
  answering('answers 400 with nothing', () => new Response(null, { status: 400 })),
  text('nothing', ''),
  text('white space', ' \n'),
  text('a web page', PAGE, 'text/html'),
  text('a web page as JSON', PAGE),
  text('a sentence', 'upstream connect error: secret detail', 'text/plain'),
  text('bytes that are no text', '\u0000\u0001\ufffd'),
  answering('answers no content', () => new Response(null, { status: 204 })),
  answering(
    'answers bytes that are no UTF-8',
    () => new Response(Uint8Array.of(0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22)),
  ),
  answering(
    'announces a compression that it does not use',
    () => new Response('{"rows":[]}', { headers: { 'Content-Encoding': 'gzip' } }),
  ),
  rewriting('answers half of it', (whole) => whole.slice(0, whole.length / 2)),
  rewriting('leaves out the last character', (whole) => whole.slice(0, -1)),
  rewriting('leaves out the first character', (whole) => whole.slice(1)),
  rewriting('answers twice in one', (whole) => whole + whole),
  rewriting('appends a web page', (whole) => whole + PAGE),
  json('null', null),
  json('a number', 42),
  json('a text', 'secret detail'),
  json('true', true),
  json('an empty list', []),
  json('a list of null', [null]),
  json('an empty object', {}),
  json('an error as a success', { message: 'secret detail', code: '57P01', error: 'ERR secret detail' }),
  {
    name: 'calls its JSON a web page',
    harmless: true,
    strike: async (genuine) =>
      new Response(await (await genuine()).text(), { headers: { 'Content-Type': 'text/html' } }),
  },
  {
    name: 'names no type',
    harmless: true,
    strike: async (genuine) => new Response(await (await genuine()).arrayBuffer()),
  },
]
