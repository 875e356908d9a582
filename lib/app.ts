import { Hono } from 'hono'
import type { App, Middleware, RequestContext } from './context.ts'
import { EnvironmentError } from './env.ts'
import { HttpError, httpError } from './errors.ts'
import { encodeWithEtag, matchesEtag } from './etag.ts'
import { addTransportHeaders, requireHttps } from './https.ts'
import { requestLog } from './request-log.ts'

/** Path prefix of every endpoint. */
export const BASE = '/api/export/v1'

/** What a handler returns: a text, which is JSON unless a header says otherwise, or a stream, with its own headers. */
export type Result = {
  readonly body: string | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** Number of rows, for the request log. */
  readonly rows?: number
  /** Whether the same request may get the same bytes again. */
  readonly cacheable: boolean
}

/** Returns an app that logs each request, serves HTTPS only, and answers every error with `{"error": "…"}`. */
export function createApp(): App {
  // Routes compare the path as it was sent: Hono's own reading would decode percent escapes.
  const app: App = new Hono({ getPath: ({ url }) => new URL(url).pathname })
  app.use(requestLog, addTransportHeaders, requireHttps)
  app.notFound(() => {
    throw httpError('unknownPath')
  })
  app.onError(sendError)
  return app
}

/** Answers 405 with `Allow`. */
export const methodNotAllowed: Middleware = () => {
  throw httpError('method', { Allow: 'GET, HEAD' })
}

/** Records which endpoint a request reached. */
export const nameEndpoint =
  (path: string): Middleware =>
  (context, next) => {
    context.get('log').endpoint = path
    return next()
  }

/** Adds headers to every response, errors included. */
export const addHeaders =
  (headers: Readonly<Record<string, string>>): Middleware =>
  async (context, next) => {
    await next()
    for (const [name, value] of Object.entries(headers)) context.res.headers.append(name, value)
  }

/** Sends a result; 304 when the client's `If-None-Match` holds its ETag. */
export async function send(
  context: RequestContext,
  { body, headers, rows, cacheable }: Result,
): Promise<Response> {
  context.get('log').rows = rows ?? null
  const all = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache', ...headers }
  if (!cacheable || typeof body !== 'string') return new Response(body, { headers: all })
  const { bytes, etag } = await encodeWithEtag(body)
  const unchanged = matchesEtag(context.req.header('If-None-Match'), etag)
  return new Response(unchanged ? null : bytes, {
    status: unchanged ? 304 : 200,
    headers: { ...all, ETag: etag },
  })
}

/** The one place where an error becomes a response: the catalogue's message and nothing else, in the form of the API. */
export function sendError(
  error: Error,
  context: RequestContext,
  toBody: (error: HttpError) => object = ({ message }) => ({ error: message }),
): Response {
  const known = error instanceof HttpError ? error : unhandled(error, context)
  const { status, headers } = known
  // Hono would copy the headers of a response that the handler has finished meanwhile.
  context.res = undefined
  context.get('log').rows = null
  return new Response(JSON.stringify(toBody(known)), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  })
}

/** Logs an unexpected error by its name and stack. Its message may quote anything, so only a known safe one is logged. */
function unhandled(error: Error, context: RequestContext): HttpError {
  const message = error instanceof EnvironmentError ? error.message : undefined
  const stack = error.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  const { id } = context.get('log')
  console.error(
    JSON.stringify({
      event: 'unhandled_error',
      request_id: id,
      error_name: error.name,
      message,
      stack,
    }),
  )
  return httpError('internal')
}
