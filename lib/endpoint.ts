import type { Context } from 'hono'
import { type Env, parseEnv } from './env.ts'
import { httpError } from './errors.ts'
import { budgetHeaders, consume, identity, isBlocked } from './rate-limit.ts'
import { type RequestLog, timed } from './request-log.ts'
import { type Answer, admitMethod, BASE, respond, type Worker, worker } from './worker.ts'

/** One request: what an endpoint needs to answer it. */
export type RequestContext = {
  readonly context: Context
  readonly url: URL
  readonly env: Env
  readonly now: Date
  readonly log: RequestLog
}

export type Endpoint = {
  /** Path below {@link BASE}. */
  readonly path: string
  /**
   * When the rate budget is asked: beside the database; before the answer, where that asks no database and nothing is
   * lost; or not at all, where the caller has none.
   */
  readonly budget?: 'beside' | 'before' | 'none'
  /** Headers of every answer at this path, refusals too. */
  readonly headers?: Readonly<Record<string, string>>
  /** The gates after the rate budget, and the answer; refusals are thrown. */
  readonly answer: (asked: RequestContext) => Promise<Answer>
}

/** A Worker that answers one path: the path, the method and the rate budget first, then what is the endpoint's own. */
export function endpoint({ path, budget = 'beside', headers = {}, answer }: Endpoint): Worker {
  async function pass(context: Context, log: RequestLog): Promise<Response> {
    const url = new URL(context.req.url)
    if (url.pathname !== BASE + path) throw httpError('unknownPath')
    for (const [name, value] of Object.entries(headers)) context.header(name, value)
    admitMethod(context, path, log)

    const now = new Date()
    const env = parseEnv(context.env)
    const ask = () => unobserved(answer({ context, url, env, now, log }))
    if (budget === 'none') return respond(context, await ask(), log)

    const caller = await identity(context, env)
    // The database and the counter are asked side by side, but the counter is heard first. Where it refused this caller
    // in this minute, or there is no database to ask, it is asked alone.
    const answering = budget === 'before' || isBlocked(caller, now) ? null : ask()
    const left = await timed(log, 'upstash', () => consume({ caller, env, now, log }, answering))
    for (const [name, value] of Object.entries(budgetHeaders(left))) context.header(name, value)
    if (left?.passes === false) throw httpError('budget', { 'Retry-After': String(left.resetSeconds) })
    return respond(context, await (answering ?? ask()), log)
  }

  return worker(pass)
}

/** Marks a failure as one that is not missed when nobody comes to ask for it. */
function unobserved<Value>(work: Promise<Value>): Promise<Value> {
  work.catch(() => {})
  return work
}
