import { getCookie } from 'hono/cookie'
import { readBearerKey } from '../request/api-key.ts'
import type { Budget, Middleware, RequestContext, RequestLog } from '../request/context.ts'
import { httpError } from '../request/errors.ts'
import { sha256 } from '../request/hash.ts'
import { recent } from '../request/isolate.ts'
import { timed } from '../request/request-log.ts'
import { addressOf } from './outer-limit.ts'
import { createTokenBucket, LONGEST_WAIT, RATE_LIMIT } from './token-bucket.ts'

export type RateLimitOptions = {
  /** Whether the handler runs while Redis counts, or after it. */
  readonly order?: 'concurrent' | 'first'
  /** Milliseconds to wait for Redis. Then the request is served uncounted: a slow Redis must not fail an export. */
  readonly timeoutMs?: number
}

/**
 * For clients that this isolate saw over their budget, the time (milliseconds since 1970) of the next refill. It decides
 * nothing: until then Redis is asked before the database instead of next to it.
 */
const blocked = recent<number>(10_000)

/**
 * Consumes one request of the client's budget and answers 429 when none is left. The handler runs at the same time, as
 * both wait for a server, unless `order` is `first` or the client is known to be over its budget.
 */
export function rateLimit({ order = 'concurrent', timeoutMs = 5000 }: RateLimitOptions = {}): Middleware {
  const requestsOf = createTokenBucket({ prefix: 'export-api', timeoutMs })
  const rowsOf = createTokenBucket({ prefix: 'export-api-rows', timeoutMs })
  return async (context, next) => {
    const { env, clock, now, log } = context.var
    const client = await rateLimitKey(context)
    context.set('consumeRows', (tokens) => counted(log, () => rowsOf(env)(client, tokens, clock)))
    const isFirst = order === 'first' || (blocked.get(client) ?? 0) > now.getTime()
    const handling = isFirst ? null : inBackground(next())
    const budget = await counted(log, () => requestsOf(env)(client, 1, clock))
    context.set('budget', budget)
    if (budget?.allowed === false) {
      blocked.set(client, now.getTime() + budget.refillSeconds * 1000)
      throw httpError('budget', { ...budgetHeaders(budget), 'Retry-After': retryAfter(budget) })
    }
    await (handling ?? next())
    for (const [name, value] of Object.entries(budgetHeaders(budget))) context.res.headers.set(name, value)
  }
}

/** Prevents an unhandled rejection of work whose result may not be needed. */
function inBackground(work: Promise<void>): Promise<void> {
  work.catch(() => {})
  return work
}

/** Counts requests; null when Redis fails or does not answer in time, and they are served. */
async function counted(log: RequestLog, take: () => Promise<Budget>): Promise<Budget | null> {
  try {
    return await timed(log, 'upstash', take)
  } catch (error) {
    const error_name = error instanceof Error ? error.name : typeof error
    console.error(JSON.stringify({ event: 'rate_limit_unavailable', request_id: log.id, error_name }))
    return null
  }
}

/** Returns seconds at random from the next refill on, so that clients that share a bucket do not return together. */
const retryAfter = ({ refillSeconds }: Budget): string =>
  String(refillSeconds + Math.floor(Math.random() * (LONGEST_WAIT + 1 - refillSeconds)))

/** Returns the `RateLimit` headers (IETF draft, structured fields). */
function budgetHeaders(budget: Budget | null): Record<string, string> {
  const policy = { 'RateLimit-Policy': `"default";q=${RATE_LIMIT.requests};w=${RATE_LIMIT.seconds}` }
  if (budget === null) return policy
  return { ...policy, RateLimit: `"default";r=${budget.remaining};t=${budget.refillSeconds}` }
}

/**
 * Returns the SHA-256 of what identifies a client: its session cookie, else its `Authorization` header, else its
 * network with its User-Agent. Hashed, since cookies and tokens are secrets and a User-Agent can be long. An export key
 * counts without its scheme, which can be spelled in many ways.
 */
export async function rateLimitKey(context: RequestContext): Promise<string> {
  const cookie = getCookie(context, context.var.env.SESSION_COOKIE)
  if (cookie) return sha256(`cookie ${cookie}`)
  const authorization = context.req.header('Authorization')
  if (authorization) return sha256(`authorization ${readBearerKey(authorization) ?? authorization}`)
  return sha256(`network ${addressOf(context)} ${context.req.header('User-Agent') ?? ''}`)
}
