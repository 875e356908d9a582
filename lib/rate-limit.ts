import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis/cloudflare'
import { getCookie } from 'hono/cookie'
import { readBearerKey } from './access/api-key.ts'
import { createBlocklist } from './blocklist.ts'
import type { Budget, Middleware, RequestContext, RequestLog } from './context.ts'
import type { Env } from './env.ts'
import { httpError } from './errors.ts'
import { sha256 } from './hash.ts'
import { memoize } from './memoize.ts'
import { addressOf } from './outer-limit.ts'
import { timed } from './request-log.ts'
import { identifierOf, tokenBucket } from './token-bucket.ts'

/**
 * A client's token bucket, over all endpoints (docs/specification.md, Rate limit). It holds `requests`. Every
 * `refill.seconds` it receives `refill.requests`, so an empty one is full after `seconds`.
 */
export const RATE_LIMIT = { requests: 100, seconds: 60, refill: { requests: 20, seconds: 12 } } as const

/** What to count. */
export type Consumption = {
  readonly client: string
  /** Names the request among those of the client, the same when it is sent again. */
  readonly request: string
  readonly limiter: Ratelimit
  readonly now: Date
  readonly log: RequestLog
  /** Number of requests, default 1. Either all of them pass or none. */
  readonly requests?: number
  /** Number of requests that must remain, default 0. */
  readonly leave?: number
}

export type RateLimitOptions = {
  /** Whether the handler runs while Redis counts, or after it. */
  readonly order?: 'concurrent' | 'first'
  /** Milliseconds to wait for Redis. Then the request is served uncounted: a slow Redis must not fail an export. */
  readonly timeoutMs?: number
}

/**
 * Clients that this isolate saw over their budget. It decides nothing: for these Redis is asked before the
 * database instead of next to it.
 */
const { isBlocked, blockUntil } = createBlocklist(10_000)

/**
 * Consumes one request of the client's budget and answers 429 when none is left. The handler runs at the same time, as
 * both wait for a server, unless `order` is `first` or the client is known to be over its budget.
 */
export function rateLimit({ order = 'concurrent', timeoutMs = 5000 }: RateLimitOptions = {}): Middleware {
  const limiterOf = createLimiter(timeoutMs)
  return async (context, next) => {
    const { env, clock, now, log } = context.var
    const client = await rateLimitKey(context)
    const limiter = limiterOf(env)
    context.set('consume', (requests, leave) =>
      consume({ client, request: log.id, limiter, now: clock(), log, requests, leave }),
    )
    const handling = order === 'first' || isBlocked(client, now) ? null : inBackground(next())
    const request = await sha256(`${context.req.method} ${context.req.url}`)
    const budget = await consume({ client, request, limiter, now, log })
    context.set('budget', budget)
    if (budget?.allowed === false) {
      blockUntil(client, now.getTime() + budget.refillSeconds * 1000, now)
      throw httpError('budget', { ...budgetHeaders(budget), 'Retry-After': String(budget.refillSeconds) })
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
export async function consume({
  client,
  request,
  limiter,
  now,
  log,
  requests = 1,
  leave = 0,
}: Consumption): Promise<Budget | null> {
  try {
    const { success, limit, remaining, reset, reason } = await timed(log, 'upstash', () =>
      limiter.limit(identifierOf({ client, request, leave }), { rate: requests }),
    )
    if (reason === 'timeout') return logFailure(log, reason)
    if (limit !== RATE_LIMIT.requests || !Number.isInteger(remaining)) return logFailure(log, 'TypeError')
    return toBudget({ success, remaining, reset }, now)
  } catch (error) {
    return logFailure(log, error instanceof Error ? error.name : typeof error)
  }
}

function logFailure({ id }: RequestLog, error_name: string): null {
  console.error(JSON.stringify({ event: 'rate_budget_unavailable', request_id: id, error_name }))
  return null
}

type Count = { readonly success: boolean; readonly remaining: number; readonly reset: number }

const toBudget = ({ success, remaining, reset }: Count, now: Date): Budget => ({
  allowed: success,
  remaining: Math.max(0, remaining),
  refillSeconds: Math.min(RATE_LIMIT.refill.seconds, Math.max(1, Math.ceil((reset - now.getTime()) / 1000))),
})

/** Returns the `RateLimit` headers (IETF draft, structured fields). */
function budgetHeaders(budget: Budget | null): Record<string, string> {
  const policy = { 'RateLimit-Policy': `"default";q=${RATE_LIMIT.requests};w=${RATE_LIMIT.seconds}` }
  if (budget === null) return policy
  return { ...policy, RateLimit: `"default";r=${budget.remaining};t=${budget.refillSeconds}` }
}

/** Returns a function that builds the limiter of a Worker's bindings once per isolate. */
export const createLimiter = (timeoutMs: number): ((env: Env) => Ratelimit) =>
  memoize((env) => {
    const redis = new Redis({
      url: env.UPSTASH_REDIS_REST_URL,
      token: env.UPSTASH_REDIS_REST_TOKEN,
      enableTelemetry: false,
      // Concurrent requests must not share a response: the runtime ties it to the first of them.
      enableAutoPipelining: false,
      // One script counts and answers: there is no earlier write to wait for.
      readYourWrites: false,
      // A retried script whose first answer was lost would count twice.
      retry: { retries: 0 },
    })
    const limiter = tokenBucket(redis, RATE_LIMIT)
    return new Ratelimit({ redis, limiter, prefix: 'export-api', ephemeralCache: false, timeout: timeoutMs })
  })

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
