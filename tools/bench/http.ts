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
