import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis/cloudflare'
import type { Budget } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { memoize } from '../request/isolate.ts'

/**
 * A client's token bucket (docs/specification.md, Rate limit). It holds `requests`. Every `refill.seconds` it receives
 * `refill.requests`, so an empty one is full after `seconds`.
 */
export const RATE_LIMIT = { requests: 100, seconds: 60, refill: { requests: 5, seconds: 3 } } as const

/** The longest time to wait, in seconds. A refill that is further away is that of a Worker whose clock is ahead. */
export const LONGEST_WAIT = 12

type Buckets = {
  /** Tells them from other buckets of the same clients. */
  readonly prefix: string
  /** Milliseconds to wait for Redis. */
  readonly timeoutMs: number
}

/**
 * Returns a function that builds, once per isolate, one that takes tokens from a client's bucket: all of them or none. It
 * rejects when Redis fails or is late.
 */
export const createTokenBucket = ({
  prefix,
  timeoutMs,
}: Buckets): ((env: Env) => (client: string, tokens: number, clock: () => Date) => Promise<Budget>) =>
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
      signal: () => AbortSignal.timeout(timeoutMs),
    })
    const { requests, refill } = RATE_LIMIT
    const limiter = Ratelimit.tokenBucket(refill.requests, `${refill.seconds} s`, requests)
    // The client of Redis has the timeout. A cache would block a client for as long as a clock is ahead.
    const ratelimit = new Ratelimit({ redis, limiter, prefix, ephemeralCache: false, timeout: 0 })
    return async (client, tokens, clock) => {
      const { success, remaining, reset } = await ratelimit.limit(client, { rate: tokens })
      if (!Number.isInteger(remaining) || !Number.isInteger(reset)) throw new TypeError('Not a count')
      const seconds = Math.ceil((reset - clock().getTime()) / 1000)
      return { allowed: success, remaining, refillSeconds: Math.min(Math.max(seconds, 1), LONGEST_WAIT) }
    }
  })
