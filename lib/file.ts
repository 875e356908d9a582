import { parseAccept } from 'hono/utils/accept'
import type { RequestContext, Result } from './app.ts'
import { HttpError } from './errors.ts'
import { fileBudget } from './file-budget.ts'
import { FILE_WRITERS, type FileFormat } from './file-format.ts'
import { FILE_PART } from './page/statements.ts'
import type { RequestLog } from './request-log.ts'
import type { RowSchema } from './row.ts'
import { sleep } from './sleep.ts'
import type { RowSet } from './write-rows.ts'

export type File = {
  readonly format: FileFormat
  /** The file's name, without its extension. */
  readonly name: string
  readonly row: RowSchema
  /** Its first rows. */
  readonly first: RowSet
  /** The rows after these; null when there are none. */
  readonly following: Following<RowSet> | null
}

/** Rows that are still to be read. */
type Following<Part> = {
  /** Key of the last row before. */
  readonly after: readonly string[]
  /** About how many rows the file has. */
  readonly total: number
  /** Reads rows after a key; `next` is the key of the last one when others follow. An `HttpError` 503 is retried. */
  readonly read: (after: readonly string[]) => Promise<Part & { readonly next: readonly string[] | null }>
}

/** Milliseconds before each retry of a statement. */
const RETRY_PAUSES_MS = [500, 1000, 2000, 4000, 8000]

const encoder = new TextEncoder()

/**
 * Returns a file as a stream, which reads on when the client does. When rows cannot be read, the stream fails, so that
 * no client takes a part for the whole.
 */
export function fileResult(context: RequestContext, { format, name, row, first, following }: File): Result {
  const { contentType, writeHeader, writeRows } = FILE_WRITERS[format]
  const encode = (rows: RowSet, header = ''): Chunk => ({
    bytes: encoder.encode(header + writeRows(rows)),
    rows: rows.rows,
  })
  const chunks = chunksOf(
    context,
    encode(first, writeHeader(row)),
    following && {
      ...following,
      read: async (after) => {
        const part = await withRetries(() => following.read(after))
        return { ...encode(part), next: part.next }
      },
    },
  )
  return {
    body: toStream(logged(chunks, context.var.log)),
    headers: {
      'Content-Type': contentType,
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      Vary: 'Accept-Encoding',
      // The runtime compresses a body with this header.
      ...(acceptsGzip(context) && { 'Content-Encoding': 'gzip' }),
    },
    cacheable: false,
  }
}

/** Rows as they are sent, and how many they are. */
type Chunk = { readonly bytes: Uint8Array; readonly rows: number }

/** Reads a file's rows. Consumes their cost before it reads them, as far as it can know their number. */
async function* chunksOf(
  context: RequestContext,
  first: Chunk,
  following: Following<Chunk> | null,
): AsyncGenerator<Chunk> {
  // Runs when the client reads, and so after the budget is known.
  const { consume, clock, budget } = context.var
  const consumeFor = fileBudget(consume, clock, budget)
  await consumeFor(first.rows)
  yield first
  if (following === null) return
  const { total, read } = following
  let { rows } = first
  for (let after: readonly string[] | null = following.after; after !== null; ) {
    await consumeFor(Math.min(rows + FILE_PART.rows, Math.max(total, rows + 1)))
    const chunk = await read(after)
    rows += chunk.rows
    await consumeFor(rows)
    yield chunk
    after = chunk.next
  }
}

async function withRetries<Value>(work: () => Promise<Value>): Promise<Value> {
  for (const pause of RETRY_PAUSES_MS) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 503)) throw error
    }
    await sleep(pause)
  }
  return work()
}

/** Passes the bytes on, and writes a line of the log at the end of the file. */
async function* logged(chunks: AsyncIterable<Chunk>, log: RequestLog): AsyncGenerator<Uint8Array> {
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

const toStream = (chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )

/** Whether the client accepts gzip. Cloudflare replaces its `Accept-Encoding` and keeps what it was. */
function acceptsGzip({ req }: RequestContext): boolean {
  const { clientAcceptEncoding } = Object.assign({ clientAcceptEncoding: null }, Reflect.get(req.raw, 'cf'))
  const accepted = clientAcceptEncoding ?? req.header('Accept-Encoding') ?? ''
  return parseAccept(accepted).some(({ type, q }) => type.toLowerCase() === 'gzip' && q > 0)
}
