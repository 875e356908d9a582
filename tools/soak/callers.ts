import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { BASE } from '../../lib/app.ts'
import { PAGE_SIZE } from '../../lib/page.ts'
import { BUDGET } from '../../lib/rate-limit.ts'
import { FIRST_DAY, type Place } from './world.ts'

/** What all callers have seen so far. */
export type Seen = {
  requests: number
  rows: number
  pulls: number
  /** Answers that did not wait for the counter. */
  uncounted: number
  /** Milliseconds from a request to the last byte of its answer. */
  readonly latencies: number[]
  /** What should not have been, by its kind. */
  readonly wrong: Map<string, number>
}

export type Callers = {
  readonly url: string
  readonly places: readonly Place[]
  /** Paths of the metrics. */
  readonly paths: readonly string[]
  readonly seen: Seen
}

export const nothingSeen = (): Seen => ({
  requests: 0,
  rows: 0,
  pulls: 0,
  uncounted: 0,
  latencies: [],
  wrong: new Map(),
})

export function logFailure({ wrong }: Seen, what: string): void {
  wrong.set(what, (wrong.get(what) ?? 0) + 1)
}

/** A caller with a connection and a budget of its own. */
export type Caller = {
  /** Asks for the listing until it has it, and gives how often it was refused with 503 before. */
  readonly arrive: () => Promise<number>
  /** Asks for a page: it pulls one window after another, a page at a time. */
  readonly ask: () => Promise<void>
  readonly leave: () => Promise<void>
}

/** Milliseconds after which an idle connection is given up: less than the runtime keeps it. */
const KEEP_MS = 3_000

type Pull = {
  readonly path: string
  readonly place: Place
  cursor: string | null
  day: string
  last: Set<string>
}

/** A caller of its own; every page that it is given is looked at, row by row. */
export function caller({ url, places, paths, seen }: Callers): Caller {
  const client = new Client(url, { keepAliveTimeout: KEEP_MS })
  const agent = randomUUID()
  let pull: Pull | null = null
  let budget: { sentIn: number; left: number } = { sentIn: 0, left: Number.NaN }

  function begin(): Pull {
    const place = anyOf(places)
    return { path: anyOf(paths), place, cursor: null, day: FIRST_DAY, last: new Set() }
  }

  async function ask(): Promise<void> {
    pull ??= begin()
    const { path, place, cursor } = pull
    const query = new URLSearchParams({
      brandId: place.brandId,
      fromDate: FIRST_DAY,
      ...(cursor && { cursor }),
    })
    const { status, text } = await get(`${path}?${query}`, place.key)
    pull = status === 200 ? look(pull, JSON.parse(text)) : null
    if (status !== 200) logFailure(seen, `${path} answered ${status}: ${text.slice(0, 80)}`)
  }

  async function arrive(): Promise<number> {
    for (let refused = 0; ; refused += 1) {
      const { status, headers, text } = await get('/brands', anyOf(places).key)
      if (status === 200) return refused
      const wait = Number(headers['retry-after'] ?? Number.NaN)
      if (status !== 503 || Number.isNaN(wait)) {
        logFailure(seen, `/brands answered ${status}: ${text.slice(0, 80)}`)
        return refused
      }
      await sleep(wait * 1000)
    }
  }

  async function get(path: string, key: string) {
    const sentIn = minute()
    const sent = performance.now()
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: BASE + path,
      headers: { 'X-API-Key': key, 'User-Agent': agent },
    })
    const text = await body.text()
    seen.latencies.push(performance.now() - sent)
    seen.requests += 1
    count(String(headers.ratelimit ?? ''), sentIn)
    return { status: statusCode, headers, text }
  }

  /**
   * The budget is this caller's alone: it falls by one a request, and is whole again in the next minute. An answer that
   * did not wait for the counter tells nothing, and then the next one cannot be compared.
   */
  function count(header: string, sentIn: number): void {
    const left = Number(/r=(\d+)/.exec(header)?.[1] ?? Number.NaN)
    const isNext = left === budget.left - 1
    const isFirst = left === BUDGET.requests - 1 && minute() !== budget.sentIn
    if (Number.isNaN(left)) seen.uncounted += 1
    else if (!Number.isNaN(budget.left) && !isNext && !isFirst)
      logFailure(seen, 'a budget that somebody else has spent of')
    budget = { sentIn, left }
  }

  function look(from: Pull, page: Page): Pull | null {
    const { data, pagination } = page
    if (data.length > PAGE_SIZE || (pagination.hasMore && data.length !== PAGE_SIZE)) {
      logFailure(seen, 'a page that is not full')
    }
    for (const row of data) {
      const day = String(row.date)
      if (day < from.day) logFailure(seen, 'a row out of order')
      if (day !== from.day) from.last.clear()
      const identity = Object.values(row)
        .filter((value) => typeof value === 'string')
        .join(' ')
      if (from.last.has(identity)) logFailure(seen, 'a row that came twice')
      from.last.add(identity)
      from.day = day
    }
    seen.rows += data.length
    if (pagination.nextCursor === null) {
      seen.pulls += 1
      return null
    }
    return { ...from, cursor: pagination.nextCursor }
  }

  return { arrive, ask, leave: () => client.close() }
}

const minute = () => Math.floor(Date.now() / (BUDGET.seconds * 1000))

type Page = {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null }
}

export function anyOf<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new RangeError('There is nothing to choose from')
  return item
}
