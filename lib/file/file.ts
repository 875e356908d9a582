import { parseAccept } from 'hono/utils/accept'
import type { Plan } from '../access/plans.ts'
import type { Result } from '../http/app.ts'
import { pageHeaders } from '../page/page.ts'
import type { Question } from '../page/paged.ts'
import type { RequestContext } from '../request/context.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import type { Field } from '../rows/schema.ts'
import { MOST_ROWS } from '../rows/size.ts'
import { FILE_WRITERS, type FileFormat } from '../rows/write.ts'
import { resumeWindow } from '../statement/window.ts'
import type { SizedRowSet } from '../statement/wire.ts'
import { type Chunk, chargeRateLimit, logged, read } from './chunks.ts'

/** Returns a handler that sends all rows of a window as a file. */
export const sendFile =
  (format: FileFormat) =>
  async (context: RequestContext, { path, fields, source, request, query }: Question): Promise<Result> => {
    const { env, clock, log } = context.var
    const { statements, read } = source
    const first = await read({ env, log }, statements.firstOfFile, query)
    const { window, brandId, total } = first
    if (total !== null && total > MOST_ROWS) throw parameterError(PARAMETER_ERRORS.tooManyRows)
    const result = fileResult(context, {
      format,
      name: [path.slice(1), ...(brandId === null ? [] : [brandId]), window.first, window.last].join('_'),
      fields,
      first,
      readAfter: async (after) => {
        const now = clock()
        const windowOf = (plan: Plan) => resumeWindow(window, plan, now)
        const part = await read({ env, log }, statements.nextOfFile, { ...query, now, after, windowOf })
        // A lower plan has moved the start: the file would lack rows that its name promises, so its transfer fails.
        if (part.window.first !== window.first) throw httpError('plan')
        return part
      },
    })
    return { ...result, headers: { ...result.headers, ...pageHeaders(first, request.parameters) } }
  }

export type File = {
  readonly format: FileFormat
  /** The file's name, without its extension. */
  readonly name: string
  readonly fields: readonly Field[]
  /** Its first rows. */
  readonly first: SizedRowSet
  /** Reads the rows after a key. */
  readonly readAfter: (key: readonly string[]) => Promise<SizedRowSet>
}

const encoder = new TextEncoder()

/**
 * Returns a file as a stream, which reads on when the client does. When rows cannot be read, the stream fails, so that
 * no client takes a part for the whole.
 */
export function fileResult(
  context: RequestContext,
  { format, name, fields, first, readAfter }: File,
): Result {
  const { contentType, writeHeader, writeRows } = FILE_WRITERS[format]
  // Not a generator: it would hold a part's columns, several times its bytes, while the client reads.
  const write = (part: SizedRowSet, header = ''): Chunk => ({
    bytes: encoder.encode(header + writeRows(part)),
    rows: part.rows,
    next: part.next,
  })
  const chunks = read(write(first, writeHeader(fields)), async (key) => write(await readAfter(key)))
  const total = first.total ?? first.rows
  const controller = new AbortController()
  const charged = chargeRateLimit(chunks, { total, context, left: controller.signal })
  return {
    body: toStream(logged(charged, context.var.log), controller),
    headers: {
      'Content-Type': contentType,
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      'X-Expected-Rows': String(total),
      Vary: 'Accept-Encoding',
      // The runtime compresses a body with this header.
      ...(acceptsGzip(context) && { 'Content-Encoding': 'gzip' }),
    },
    cacheable: false,
  }
}

const toStream = (
  chunks: AsyncGenerator<Uint8Array>,
  controller: AbortController,
): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(stream) {
        const { done, value } = await chunks.next()
        if (done) stream.close()
        else stream.enqueue(value)
      },
      cancel: async () => {
        controller.abort()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )

/** Whether the client accepts gzip. Cloudflare replaces its `Accept-Encoding` and keeps what it was. */
function acceptsGzip({ req }: RequestContext): boolean {
  const { clientAcceptEncoding } = Object.assign({ clientAcceptEncoding: null }, Reflect.get(req.raw, 'cf'))
  const accepted = clientAcceptEncoding ?? req.header('Accept-Encoding') ?? ''
  return parseAccept(accepted).some(({ type, q }) => type.toLowerCase() === 'gzip' && q > 0)
}
