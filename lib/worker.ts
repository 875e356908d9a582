import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { EnvironmentError } from './env.ts'
import { HttpError, httpError } from './errors.ts'
import { type Entity, encodeWithEtag, holds } from './etag.ts'
import { finishLog, type RequestLog, startLog } from './request-log.ts'

/** Where every path starts (specification, section 9). */
export const BASE = '/api/export/v1'

const METHODS = ['GET', 'HEAD']

/** What an endpoint has to say: the JSON text, and headers of its own. `lasting` when the same request may get the same again. */
export type Answer = {
  readonly body: string
  /** The body's bytes and their tag, where they have been made before. */
  readonly entity?: Entity
  readonly headers?: Readonly<Record<string, string>>
  /** How many rows it holds, where it is made of rows. */
  readonly rows?: number
  readonly cacheable: boolean
}

/** A Worker that answers requests; what it is told by its environment is read in {@link parseEnv}. */
export type Worker = Hono<{ Bindings: object }>

/** A Worker of its gates and its answer: each refusal that they throw is answered, each request is logged. */
export function worker(pass: (context: Context, log: RequestLog) => Promise<Response>): Worker {
  const app: Worker = new Hono()
  app.all('*', async (context) => {
    const log = startLog(context.req)
    const response = await pass(context, log).catch((error: unknown) => answerRefusal(error, context, log))
    return finishLog(log, response)
  })
  return app
}

/** The gate of the method, at a path that is known to be one. */
export function admitMethod(context: Context, path: string, log: RequestLog): void {
  log.endpoint = path
  if (!METHODS.includes(context.req.method)) throw httpError('method', { Allow: METHODS.join(', ') })
}

/** Sends an answer; one that the caller holds already is not sent again (304). */
export async function respond(
  context: Context,
  { body, entity, headers, rows, cacheable }: Answer,
  log: RequestLog,
): Promise<Response> {
  log.rows = rows ?? null
  context.header('Content-Type', 'application/json')
  context.header('Cache-Control', 'private, no-cache')
  for (const [name, value] of Object.entries(headers ?? {})) {
    context.header(name, value, { append: name === 'Link' })
  }
  if (!cacheable) return context.body(body)
  const { bytes, tag } = entity ?? (await encodeWithEtag(body))
  context.header('ETag', tag)
  return holds(context.req.header('If-None-Match'), tag) ? context.body(null, 304) : context.body(bytes)
}

/** The one place where an error becomes an answer: `{"error": "…"}`, the catalogue's sentence and nothing else. */
function answerRefusal(error: unknown, context: Context, { id }: RequestLog): Response {
  const refusal = error instanceof HttpError ? error : httpError('internal')
  if (refusal !== error) console.error(JSON.stringify({ event: 'failed', request_id: id, ...locate(error) }))
  return new Response(JSON.stringify({ error: refusal.message }), {
    status: refusal.status,
    headers: {
      ...Object.fromEntries(context.res.headers),
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...refusal.headers,
    },
  })
}

/** Where an unforeseen error came from. Its message can quote anything, so only one that is known not to is told. */
function locate(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error }
  const message = error instanceof EnvironmentError ? error.message : undefined
  const stack = error.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return { kind: error.name, message, stack }
}
