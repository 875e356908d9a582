import { setTimeout as delay } from 'node:timers/promises'
import { type Fault, read } from './fault.ts'

/** Longer than every timeout. */
const FOR_EVER_MS = 60_000

/** Connections that break, and responses that are late but complete. */
export const WIRE: readonly Fault[] = [
  { name: 'resets the connection', strike: () => Promise.reject(new Error('reset')) },
  {
    name: 'resets the connection after it has done its work',
    strike: async (genuine) => {
      await genuine()
      throw new Error('reset')
    },
  },
  piecewise(
    'cuts the connection after the headers',
    upTo(() => 0),
    'cut',
  ),
  piecewise(
    'cuts the connection after the first byte',
    upTo(() => 1),
    'cut',
  ),
  piecewise(
    'cuts the connection in the middle of the response',
    upTo((size) => size / 2),
    'cut',
  ),
  piecewise(
    'cuts the connection before the last byte',
    upTo((size) => size - 1),
    'cut',
  ),
  piecewise(
    'ends the response in its middle',
    upTo((size) => size / 2),
    'close',
  ),
  {
    name: 'takes a second',
    harmless: true,
    strike: async (genuine) => {
      await delay(1_000)
      return genuine()
    },
  },
  {
    ...piecewise(
      'answers in small pieces',
      async function* (bytes) {
        for (let piece = 0; piece < 20; piece += 1) {
          yield bytes.subarray((bytes.length * piece) / 20, (bytes.length * (piece + 1)) / 20)
          await delay(25)
        }
      },
      'close',
    ),
    harmless: true,
  },
]

/** Servers that are silent at some point, for longer than any client waits. */
export const SILENCES: readonly Fault[] = [
  {
    name: 'is silent',
    strike: (_, { signal }) => delay(FOR_EVER_MS, new Response(), { signal, ref: false }),
  },
  piecewise(
    'is silent after the headers',
    upTo(() => 0, true),
    'close',
  ),
  piecewise(
    'is silent in the middle of the response',
    upTo((size) => size / 2, true),
    'close',
  ),
  piecewise(
    'is silent after the last byte',
    upTo((size) => size, true),
    'close',
  ),
  piecewise(
    'sends white space forever',
    async function* (_, signal) {
      for (;;) {
        yield Buffer.from(' ')
        await delay(250, undefined, { signal, ref: false })
      }
    },
    'close',
  ),
]

type Pieces = (bytes: Uint8Array, signal: AbortSignal) => AsyncGenerator<Uint8Array>

/** The first bytes of a response, as many as `end` says; then silence, or nothing. */
function upTo(end: (size: number) => number, silent = false): Pieces {
  return async function* (bytes, signal) {
    yield bytes.subarray(0, end(bytes.length))
    if (silent) await delay(FOR_EVER_MS, undefined, { signal, ref: false })
  }
}

/** The genuine answer's bytes as `pieces` gives them, then the connection's end. */
function piecewise(name: string, pieces: Pieces, end: 'cut' | 'close'): Fault {
  return {
    name,
    strike: async (genuine, { signal }) => {
      const { status, headers, text } = await read(await genuine())
      const coming = pieces(new TextEncoder().encode(text), signal)
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          const { value, done } = await coming.next()
          if (!done) controller.enqueue(value)
          else if (end === 'close') controller.close()
          else controller.error(new Error('cut'))
        },
      })
      return new Response(body, { status, headers })
    },
  }
}
