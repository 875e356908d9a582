import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { BASE } from '../../lib/app.ts'
import { PAGE_SIZE } from '../../lib/page/statements.ts'

/** A brand, and a key that reads it. */
export type BrandKey = { readonly organizationId: string; readonly brandId: string; readonly key: string }

/** Before the first day of the data. */
const FIRST_DAY = '2026-01-01'

/** Nothing received yet. Latencies are milliseconds from a request to the last byte of its response. */
export const noResults = () => ({
  rows: 0,
  windows: 0,
  latencies: Array.of<number>(),
  /** How often each failure occurred. */
  failures: new Map<string, number>(),
})

/** What all clients have received. */
export type Results = ReturnType<typeof noResults>

export function logFailure({ failures }: Results, failure: string, times = 1): void {
  failures.set(failure, (failures.get(failure) ?? 0) + times)
}

/** Milliseconds after which an idle connection closes: less than workerd keeps it. */
const KEEP_ALIVE_MS = 3_000

/** A window that is being pulled: its last day so far, and the rows of that day. */
type Pull = {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly key: string
  readonly cursor: string | null
  day: string
  identities: Set<string>
}

type Page = {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null }
}

/** Creates a client with a connection and a rate budget of its own. It checks every row that it receives. */
export function soakClient({
  url,
  keys,
  paths,
  results,
}: {
  readonly url: string
  readonly keys: readonly BrandKey[]
  readonly paths: readonly string[]
  readonly results: Results
}) {
  const client = new Client(url, { keepAliveTimeout: KEEP_ALIVE_MS })
  const userAgent = randomUUID()
  let pull: Pull | null = null

  async function get(path: string, key: string) {
    const sent = performance.now()
    const headers = { 'X-API-Key': key, 'User-Agent': userAgent }
    const response = await client.request({ method: 'GET', path: BASE + path, headers })
    const text = await response.body.text()
    results.latencies.push(performance.now() - sent)
    return { status: response.statusCode, retryAfter: Number(response.headers['retry-after']), text }
  }

  function start(): Pull {
    const { brandId, key } = randomItem(keys)
    const query = { brandId, fromDate: FIRST_DAY }
    return { path: randomItem(paths), query, key, cursor: null, day: FIRST_DAY, identities: new Set() }
  }

  function check(current: Pull, { data, pagination }: Page): Pull | null {
    if (data.length > PAGE_SIZE || (pagination.hasMore && data.length !== PAGE_SIZE)) {
      logFailure(results, 'a page that is not full')
    }
    for (const row of data) {
      const day = String(row.date)
      if (day < current.day) logFailure(results, 'a row out of order')
      if (day !== current.day) current.identities.clear()
      const identity = Object.values(row)
        .filter((value) => typeof value === 'string')
        .join(' ')
      if (current.identities.has(identity)) logFailure(results, 'a row received twice')
      current.identities.add(identity)
      current.day = day
    }
    results.rows += data.length
    if (pagination.nextCursor !== null) return { ...current, cursor: pagination.nextCursor }
    results.windows += 1
    return null
  }

  return {
    /** Requests the brands until it receives them, and returns how many responses were 503 before. */
    connect: async (): Promise<number> => {
      for (let unavailable = 0; ; unavailable += 1) {
        const { status, retryAfter, text } = await get('/brands', randomItem(keys).key)
        if (status === 200) return unavailable
        if (status !== 503) throw new Error(`/brands: ${status} ${text.slice(0, 80)}`)
        await sleep(retryAfter * 1000)
      }
    },
    /** Requests the next page of a window, or the first page of another window. */
    requestPage: async (): Promise<void> => {
      const current = pull ?? start()
      const { path, query, key, cursor } = current
      const search = new URLSearchParams({ ...query, ...(cursor !== null && { cursor }) })
      const { status, text } = await get(`${path}?${search}`, key)
      pull = status === 200 ? check(current, JSON.parse(text)) : null
      if (status !== 200) logFailure(results, `${path}: ${status} ${text.slice(0, 80)}`)
    },
    close: () => client.close(),
  }
}

export function randomItem<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new RangeError('The list is empty')
  return item
}
