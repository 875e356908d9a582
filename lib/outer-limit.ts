import type { Middleware, RequestContext } from './context.ts'
import { httpError } from './errors.ts'
import { memoize } from './memoize.ts'
import { network } from './network.ts'

/** Seconds over which the binding counts (wrangler.toml). */
export const OUTER_LIMIT_SECONDS = 60

/** Cloudflare's rate-limit binding. */
type Limiter = { limit(options: { key: string }): Promise<{ success: boolean }> }

/**
 * Answers 429 when the client's address or its API key has sent more requests than the binding `OUTER_LIMITER` allows,
 * before Redis and Postgres are asked. Serves the request when the binding is missing or fails.
 */
export const outerLimit: Middleware = async (context, next) => {
  const limiter = limiterOf(context.env)
  if (limiter !== null && (await isExceeded(context, limiter))) {
    throw httpError('outerLimit', { 'Retry-After': String(OUTER_LIMIT_SECONDS) })
  }
  await next()
}

/** Returns the client's address, an IPv6 one by its /64; empty outside Cloudflare. */
export const addressOf = (context: RequestContext): string =>
  network(context.req.header('CF-Connecting-IP') ?? '')

async function isExceeded(context: RequestContext, limiter: Limiter): Promise<boolean> {
  const { id, keyHash } = context.var.log
  const keys = [`address ${addressOf(context)}`, ...(keyHash === null ? [] : [`key ${keyHash}`])]
  try {
    const counts = await Promise.all(keys.map((key) => limiter.limit({ key })))
    return counts.some(({ success }) => !success)
  } catch (error) {
    logUnavailable(error instanceof Error ? error.name : typeof error, id)
    return false
  }
}

/** Returns the limiter of a Worker's bindings. Logs once per isolate that it is missing. */
const limiterOf = memoize((bindings: object): Limiter | null => {
  if ('OUTER_LIMITER' in bindings && isLimiter(bindings.OUTER_LIMITER)) return bindings.OUTER_LIMITER
  logUnavailable('MissingBinding')
  return null
})

const isLimiter = (value: unknown): value is Limiter =>
  typeof value === 'object' && value !== null && 'limit' in value

const logUnavailable = (error_name: string, request_id?: string): void =>
  console.error(JSON.stringify({ event: 'outer_limit_unavailable', request_id, error_name }))
