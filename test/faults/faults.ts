import { setTimeout as delay } from 'node:timers/promises'

// What each malformed result and error is logged as: test/unit/db.test.ts, test/unit/page.test.ts, test/unit/rate-limit.test.ts.

/** A failure between a Worker and Neon or Upstash. */
export type Fault = {
  readonly name: string
  /** Whether the Worker must answer as without the fault. */
  readonly harmless?: boolean
  /** Returns the Worker's response instead of the genuine one; a rejection breaks the connection. */
  readonly strike: (genuine: () => Promise<Response>, request: Request) => Promise<Response>
}

/** Longer than every timeout. */
const FOR_EVER_MS = 60_000

const PAGE = '<!doctype html><title>secret detail</title><h1>select 1 from postgres</h1>'

/** A fault with a fixed response. */
export const answering = (name: string, answer: () => Response): Fault => ({
  name,
  strike: () => Promise.resolve(answer()),
})

const text = (name: string, body: string, type = 'application/json'): Fault =>
  answering(`answers ${name}`, () => new Response(body, { headers: { 'Content-Type': type } }))

type Pieces = (bytes: Uint8Array, signal: AbortSignal) => AsyncGenerator<Uint8Array>

/** The bytes of the genuine response as `pieces` gives them. */
function piecewise(name: string, pieces: Pieces): Fault {
  return {
    name,
    strike: async (genuine, { signal }) => {
      const response = await genuine()
      const headers = new Headers(response.headers)
      headers.delete('content-length')
      const coming = pieces(new Uint8Array(await response.arrayBuffer()), signal)
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          const { value, done } = await coming.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      return new Response(body, { status: response.status, headers })
    },
  }
}

/** The first bytes of a response, as many as `size` says; then a cut, a regular end or silence. */
const cut = (name: string, end: 'cut' | 'close' | 'silence', size: (whole: number) => number): Fault =>
  piecewise(name, async function* (bytes, signal) {
    yield bytes.subarray(0, size(bytes.length))
    if (end === 'cut') throw new Error('cut')
    if (end === 'silence') await delay(FOR_EVER_MS, undefined, { signal, ref: false })
  })

const inPieces = piecewise('answers in small pieces', async function* (bytes) {
  for (let piece = 0; piece < 20; piece += 1) {
    yield bytes.subarray((bytes.length * piece) / 20, (bytes.length * (piece + 1)) / 20)
    await delay(25)
  }
})

/** Faults of either server that end within three seconds or so. */
export const FAULTS: readonly Fault[] = [
  { name: 'resets the connection', strike: () => Promise.reject(new Error('reset')) },
  {
    name: 'resets the connection after it has done its work',
    strike: async (genuine) => {
      await genuine()
      throw new Error('reset')
    },
  },
  cut('cuts the connection after the headers', 'cut', () => 0),
  cut('cuts the connection in the middle of the response', 'cut', (size) => size / 2),
  cut('cuts the connection before the last byte', 'cut', (size) => size - 1),
  cut('ends the response in its middle', 'close', (size) => size / 2),
  { ...inPieces, harmless: true },
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
]

/** Servers that are silent at some point, for longer than any client waits. */
export const SILENCES: readonly Fault[] = [
  {
    name: 'is silent',
    strike: (_, { signal }) => delay(FOR_EVER_MS, new Response(), { signal, ref: false }),
  },
  cut('is silent after the headers', 'silence', () => 0),
  cut('is silent in the middle of the response', 'silence', (size) => size / 2),
  cut('is silent after the last byte', 'silence', (size) => size),
  piecewise('sends white space forever', async function* (_, signal) {
    for (;;) {
      yield Buffer.from(' ')
      await delay(250, undefined, { signal, ref: false })
    }
  }),
]
