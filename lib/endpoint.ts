import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { type Env, EnvironmentError, parseEnv } from './env.ts'
import { Refusal, refuse } from './errors.ts'
import { type Entity, entityOf, holds } from './etag.ts'
import { budgetHeaders, identity, isOverBudget, spend } from './rate-limit.ts'
import { closeLog, openLog, type RequestLog, timed } from './request-log.ts'

/** Where every path starts (specification, section 9). */
export const BASE = '/api/export/v1'

const METHODS = ['GET', 'HEAD']

/** One request: what an endpoint needs to answer it. */
export type Asked = {
  readonly context: Context
  readonly url: URL
  readonly env: Env
  readonly now: Date
  readonly log: RequestLog
}

/** What an endpoint has to say: the JSON text, and headers of its own. `lasting` when the same request may get the same again. */
export type Answer = {
  readonly body: string
  /** The body's bytes and their tag, where they have been made before. */
  readonly entity?: Entity
  readonly headers?: Readonly<Record<string, string>>
  /** How many rows it holds, where it is made of rows. */
  readonly rows?: number
  readonly lasting: boolean
}

export type Endpoint = {
  /** Path below {@link BASE}. */
  readonly path: string
  /**
   * When the rate budget is asked: beside the database; before the answer, where that asks no database and nothing is
   * lost; or not at all, where the caller has none.
   */
  readonly budget?: 'beside' | 'before' | 'none'
  /** The gates after the rate budget, and the answer; refusals are thrown. */
  readonly answer: (asked: Asked) => Promise<Answer>
}

/** A Worker that answers requests; what it is told by its environment is read in {@link parseEnv}. */
export type Worker = Hono<{ Bindings: object }>

/** A Worker that answers one path: the path, the method and the rate budget first, then what is the endpoint's own. */
export function endpoint({ path, budget = 'beside', answer }: Endpoint): Worker {
  async function pass(context: Context, log: RequestLog): Promise<Response> {
    const url = new URL(context.req.url)
    if (url.pathname !== BASE + path) throw refuse('unknownPath')
    log.endpoint = path
    if (!METHODS.includes(context.req.method)) throw refuse('method', { Allow: METHODS.join(', ') })

    const now = new Date()
    const env = parseEnv(context.env)
    const ask = () => unobserved(answer({ context, url, env, now, log }))
    if (budget === 'none') return respond(context, await ask(), log)

    const caller = await identity(context, env)
    // The database and the counter are asked side by side, but the counter is heard first. Where it refused this caller
    // in this minute, or there is no database to ask, it is asked alone.
    const answering = budget === 'before' || isOverBudget(caller, now) ? null : ask()
    const left = await timed(log, 'upstash', () => spend({ caller, env, now, log }, answering))
    for (const [name, value] of Object.entries(budgetHeaders(left))) context.header(name, value)
    if (left?.passes === false) throw refuse('budget', { 'Retry-After': String(left.resetSeconds) })
    return respond(context, await (answering ?? ask()), log)
  }

  const app: Worker = new Hono()
  app.all('*', async (context) => {
    const log = openLog(context.req)
    const response = await pass(context, log).catch((error: unknown) => answerRefusal(error, context, log))
    return closeLog(log, response)
  })
  return app
}

/** Marks a failure as one that is not missed when nobody comes to ask for it. */
function unobserved<Value>(work: Promise<Value>): Promise<Value> {
  work.catch(() => {})
  return work
}

/** Sends an answer; one that the caller holds already is not sent again (304). */
async function respond(
  context: Context,
  { body, entity, headers, rows, lasting }: Answer,
  log: RequestLog,
): Promise<Response> {
  log.rows = rows ?? null
  context.header('Content-Type', 'application/json')
  context.header('Cache-Control', 'private, no-cache')
  for (const [name, value] of Object.entries(headers ?? {})) context.header(name, value)
  if (!lasting) return context.body(body)
  const { bytes, tag } = entity ?? (await entityOf(body))
  context.header('ETag', tag)
  return holds(context.req.header('If-None-Match'), tag) ? context.body(null, 304) : context.body(bytes)
}

/** The one place where an error becomes an answer: `{"error": "…"}`, the catalogue's sentence and nothing else. */
function answerRefusal(error: unknown, context: Context, { id }: RequestLog): Response {
  const refusal = error instanceof Refusal ? error : refuse('internal')
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
