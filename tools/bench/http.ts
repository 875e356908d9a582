import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Dispatcher, Pool } from 'undici'

export type HttpRequest = { readonly path: string; readonly headers?: Readonly<Record<string, string>> }

const TIMEOUT_MS = 30_000

/** Opens connections to one server, each with one request at a time. */
export const connect = (url: string, connections: number): Pool =>
  new Pool(url, { connections, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })

/** Sends a request and returns its body. Throws on any status but 200. */
export async function fetchBody(client: Dispatcher, { path, headers = {} }: HttpRequest): Promise<Buffer> {
  const { statusCode, body } = await client.request({ path, method: 'GET', headers })
  const bytes = Buffer.from(await body.arrayBuffer())
  if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${bytes.subarray(0, 300)}`)
  return bytes
}

export type Load = HttpRequest & {
  readonly url: string
  /** The body that every response must have, byte for byte. */
  readonly body: Buffer
  readonly connections: number
  readonly seconds: number
}

const GENERATOR = new URL('./load-process.ts', import.meta.url)

/**
 * Keeps connections busy for some seconds, each with one request after the other. Returns the milliseconds of each
 * page. The requests come from a process of their own: the servers in this one would delay them.
 */
export async function load(asked: Load): Promise<number[]> {
  const child = fork(GENERATOR, { serialization: 'advanced' })
  child.send(asked)
  const answered = once(child, 'message')
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('The load generator failed')
  const [latencies] = await answered
  return latencies
}
