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
  cut('cuts the connection after the headers', 'cut', () => 0),
  cut('cuts the connection in the middle of the response', 'cut', (size) => size / 2),
  cut('cuts the connection before the last byte', 'cut', (size) => size - 1),
  cut('ends the response in its middle', 'close', (size) => size / 2),
  {
    ...piecewise('answers in small pieces', async function* (bytes) {
      for (let piece = 0; piece < 20; piece += 1) {
        yield bytes.subarray((bytes.length * piece) / 20, (bytes.length * (piece + 1)) / 20)
        await delay(25)
      }
    }),
    harmless: true,
  },
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

type Pieces = (bytes: Uint8Array, signal: AbortSignal) => AsyncGenerator<Uint8Array>

/** The first bytes of a response, as many as `size` says; then a cut, a regular end or silence. */
export function cut(name: string, end: 'cut' | 'close' | 'silence', size: (whole: number) => number): Fault {
  return piecewise(name, async function* (bytes, signal) {
    yield bytes.subarray(0, size(bytes.length))
    if (end === 'cut') throw new Error('cut')
    if (end === 'silence') await delay(FOR_EVER_MS, undefined, { signal, ref: false })
  })
}

/** The genuine answer's bytes as `pieces` gives them. */
function piecewise(name: string, pieces: Pieces): Fault {
  return {
    name,
    strike: async (genuine, { signal }) => {
      const { status, headers, text } = await read(await genuine())
      const coming = pieces(new TextEncoder().encode(text), signal)
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          const { value, done } = await coming.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      return new Response(body, { status, headers })
    },
  }
}
