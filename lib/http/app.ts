import { Hono } from 'hono'
import type { App, Middleware, RequestContext } from '../request/context.ts'
import { EnvironmentError } from '../request/env.ts'
import { HttpError, httpError } from '../request/errors.ts'
import { hex } from '../request/hash.ts'
import { requestLog } from '../request/request-log.ts'

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

/** Lets some methods pass; answers 405 with `Allow` to others. */
export const methods =
  (allow: string): Middleware =>
  (context, next) => {
    if (allow.split(', ').includes(context.req.method)) return next()
    throw new HttpError(405, `Method not allowed. Use ${allow.replace(', ', ' or ')}.`, { Allow: allow })
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

/** Encodes a body as UTF-8 and computes its strong ETag: half of its SHA-256 in hex, quoted. */
export async function encodeWithEtag(body: string) {
  const bytes = new TextEncoder().encode(body)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return { bytes, etag: `"${hex(digest.subarray(0, 16))}"` }
}

/** Whether an `If-None-Match` header holds an ETag. Compares weakly (RFC 9110): proxies that compress mark it as weak. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}

/** The hosts of this machine, which others do not reach. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

/** Whether a host name or address is this machine's own. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * Answers 403 to plain HTTP, which would show keys and rows to everyone on the way. Serves this machine's own hosts, and
 * the emulator's network, which the binding `ALLOW_HTTP` stands for.
 */
const requireHttps: Middleware = async (context, next) => {
  const { protocol, hostname } = new URL(context.req.url)
  if (protocol !== 'https:' && !isLoopback(hostname) && !('ALLOW_HTTP' in context.env)) {
    throw httpError('plainHttp')
  }
  await next()
}

/** Makes browsers keep to HTTPS for a year, and to the type that a response states. */
const addTransportHeaders: Middleware = async (context, next) => {
  await next()
  const { headers } = context.res
  headers.set('X-Content-Type-Options', 'nosniff')
  if (context.req.url.startsWith('https:')) headers.set('Strict-Transport-Security', 'max-age=31536000')
}
