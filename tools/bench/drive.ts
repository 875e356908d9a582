import { type Dispatcher, Pool } from 'undici'

/** One request of a contender, and what its body must be, byte for byte. */
export type Ask = {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  /** Headers, made anew for each request. */
  readonly headers: () => Readonly<Record<string, string>>
}

/** How hard a server is driven. */
export type Drive = {
  readonly url: string
  readonly ask: Ask
  readonly expected: Buffer
  readonly connections: number
  readonly seconds: number
}

/** What came of it. */
export type Driven = {
  readonly pages: number
  readonly pagesPerSecond: number
  readonly latencies: readonly number[]
}

/** Milliseconds after which a request is given up. */
const PATIENCE_MS = 30_000

/** Sends one request and gives its body; anything but 200 is an error that quotes it. */
export async function fetchBody(client: Dispatcher, ask: Ask): Promise<Buffer> {
  const { statusCode, body } = await client.request({
    path: ask.path,
    method: ask.method ?? 'GET',
    headers: ask.headers(),
    body: ask.body ?? null,
  })
  const bytes = Buffer.from(await body.arrayBuffer())
  if (statusCode !== 200) throw new Error(`${ask.path} answered ${statusCode}: ${bytes.subarray(0, 300)}`)
  return bytes
}

/** Keeps some connections busy for a while, each with one request after the other; every body is compared. */
export async function drive({ url, ask, expected, connections, seconds }: Drive): Promise<Driven> {
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
          const body = await fetchBody(pool, ask)
          last = performance.now()
          if (!body.equals(expected)) throw new Error(`${ask.path} answered another body than before`)
          latencies.push(last - sent)
          pages += 1
        }
        // Up to its own last answer: the wait for other connections to finish is no slowness.
        pagesPerSecond += pages / ((last - start) / 1000)
      }),
    )
  } finally {
    await pool.destroy()
  }
  return { pages: latencies.length, pagesPerSecond, latencies }
}

/** Connections to one server, each with one request at a time. */
export const connect = (url: string, connections: number): Pool =>
  new Pool(url, {
    connections,
    pipelining: 1,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  })
