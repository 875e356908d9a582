import { answering, type Fault, rewriting } from './fault.ts'

const json = (name: string, body: unknown): Fault => answering(`answers ${name}`, () => Response.json(body))

const text = (name: string, body: string, type = 'application/json'): Fault =>
  answering(`answers ${name}`, () => new Response(body, { headers: { 'Content-Type': type } }))

const PAGE = '<!doctype html><title>secret detail</title><h1>select 1 from postgres</h1>'

/** Answers with status 200 that no server of this protocol gives. */
export const GARBAGE: readonly Fault[] = [
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
