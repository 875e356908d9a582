import retry, { type Options } from 'p-retry'
import type { RequestContext, RequestLog } from '../request/context.ts'
import { HttpError } from '../request/errors.ts'
import { FILE_PART } from '../rows/size.ts'
import { fileBudget } from './budget.ts'

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
 * after it is read. `left` aborts when the client has left.
 */
export async function* chargeRateLimit(
  chunks: AsyncIterable<Chunk>,
  {
    total,
    context,
    left,
  }: { readonly total: number; readonly context: RequestContext; readonly left: AbortSignal },
): AsyncGenerator<Chunk> {
  // Runs when the client reads, and so after the budget is known.
  const consumeFor = fileBudget(context.var, left)
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
