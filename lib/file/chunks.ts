import retry, { type Options } from 'p-retry'
import type { RequestContext, RequestLog } from '../request/context.ts'
import { HttpError } from '../request/errors.ts'
import { FILE_PART, PAGE_SIZE } from '../rows/size.ts'

/** Rows as they are sent, how many they are, and the key of the last one when others follow. */
export type Chunk = {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly next: readonly string[] | null
}

/** Repeats a statement that fails with 503 after 0.5, 1, 2, 4 and 8 seconds. */
const RETRIES: Options = {
  retries: 5,
  minTimeout: 500,
  shouldRetry: ({ error }) => error instanceof HttpError && error.status === 503,
}

/** Yields a chunk and those after it, which it reads. Retries a statement that fails with 503. */
export async function* read(
  chunk: Chunk,
  readAfter: (key: readonly string[]) => Promise<Chunk>,
): AsyncGenerator<Chunk> {
  for (;;) {
    yield chunk
    const { next } = chunk
    if (next === null) return
    chunk = await retry(() => readAfter(next), RETRIES)
  }
}

/**
 * Charges for each chunk before it is read, estimated from `total`, the approximate number of rows. Charges the rest
 * after it is read.
 */
export async function* chargeRateLimit(
  chunks: AsyncIterable<Chunk>,
  { total, context }: { readonly total: number; readonly context: RequestContext },
): AsyncGenerator<Chunk> {
  // Runs when the client reads, and so after the budget is known.
  const consumeFor = fileBudget(context.var)
  let rows = 0
  for await (const chunk of chunks) {
    rows += chunk.rows
    await consumeFor(rows)
    yield chunk
    if (chunk.next !== null) await consumeFor(Math.min(rows + FILE_PART.rows, Math.max(total, rows + 1)))
  }
}

/** Passes the bytes on, and writes a line of the log at the end of the file. */
export async function* logged(chunks: AsyncIterable<Chunk>, log: RequestLog): AsyncGenerator<Uint8Array> {
  let rows = 0
  let outcome = 'canceled'
  let status: number | null = null
  try {
    for await (const chunk of chunks) {
      yield chunk.bytes
      rows += chunk.rows
    }
    outcome = 'complete'
  } catch (error) {
    outcome = 'failed'
    status = error instanceof HttpError ? error.status : 500
    throw error
  } finally {
    const { id, keyId, endpoint, start, subrequests } = log
    const ms = Math.round(performance.now() - start)
    const end = { outcome, status, rows, ms, subrequests }
    console.log(JSON.stringify({ event: 'file', request_id: id, key_id: keyId, endpoint, ...end }))
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Requests that a file leaves to the client's other requests. */
const RESERVE = 5

/** The most requests consumed at once: what a full part of a file costs. */
const STEP = 5

/**
 * Returns a function that consumes what a file of a number of rows costs in all: one request for each started page,
 * of which the file's own request, which has left `budget`, is the first. It waits for refills of the budget. After Redis failed once, requests are
 * counted in the background, one count at a time, until one succeeds: an unavailable Redis must not delay an export.
 */
export function fileBudget({ consume, budget }: Pick<RequestContext['var'], 'consume' | 'budget'>) {
  let consumed = 1
  let isAvailable = budget !== null
  /** The count that was started last, until it ends. */
  let counting: Promise<void> | null = null

  async function take(requests: number): Promise<void> {
    for (;;) {
      const counted = await consume(requests, RESERVE)
      isAvailable = counted !== null
      if (counted === null || counted.allowed) return
      await sleep(counted.refillSeconds * 1000)
    }
  }

  async function count(requests: number): Promise<void> {
    if (isAvailable) await counting
    else if (counting !== null) return
    counting = take(requests).finally(() => {
      counting = null
    })
    if (isAvailable) await counting
  }

  return async (rows: number): Promise<void> => {
    const cost = Math.ceil(rows / PAGE_SIZE)
    while (consumed < cost) {
      const requests = Math.min(STEP, cost - consumed)
      await count(requests)
      consumed += requests
    }
  }
}
