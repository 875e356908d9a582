import { type Dispatcher, Pool } from 'undici'

export type HttpRequest = {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 30_000

/** Opens connections to one server, each with one request at a time. */
export const connect = (url: string, connections: number): Pool =>
  new Pool(url, { connections, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })

/** Sends a request and returns its body. Throws on any status but 200. */
export async function fetchBody(client: Dispatcher, request: HttpRequest): Promise<Buffer> {
  const { path, method = 'GET', headers = {}, body: sent = null } = request
  const { statusCode, body } = await client.request({ path, method, headers, body: sent })
  const bytes = Buffer.from(await body.arrayBuffer())
  if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${bytes.subarray(0, 300)}`)
  return bytes
}

export type Load = {
  readonly url: string
  readonly request: () => HttpRequest
  /** The body that every response must have, byte for byte. */
  readonly body: Buffer
  readonly connections: number
  readonly seconds: number
}

export type LoadResult = { readonly pagesPerSecond: number; readonly latencies: readonly number[] }

/** Keeps connections busy for some seconds, each with one request after the other. */
export async function load({ url, request, body, connections, seconds }: Load): Promise<LoadResult> {
  const pool = connect(url, connections)
  const latencies: number[] = []
  let pagesPerSecond = 0
  try {
    const start = performance.now()
    await Promise.all(
      Array.from({ length: connections }, async () => {
        let pages = 0
        let last = start
        while (last - start < seconds * 1000) {
          const sent = performance.now()
          const received = await fetchBody(pool, request())
          last = performance.now()
          if (!received.equals(body)) throw new Error(`${url} returned a different page than before`)
          latencies.push(last - sent)
          pages += 1
        }
        // Until its own last response: waiting for the other connections is not slowness.
        pagesPerSecond += pages / ((last - start) / 1000)
      }),
    )
  } finally {
    await pool.destroy()
  }
  return { pagesPerSecond, latencies }
}
