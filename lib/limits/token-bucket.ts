import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis/cloudflare'
import type { Budget } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { memoize } from '../request/isolate.ts'

type Bucket = {
  /** Tokens of a full bucket. */
  readonly requests: number
  readonly refill: { readonly requests: number; readonly seconds: number }
  /** Milliseconds to wait for Redis. */
  readonly timeoutMs: number
  /** The most rejected requests that it remembers, by default more than a client sends between two refills. */
  readonly places?: number
}

/** What to take from a bucket. */
export type Taking = {
  readonly client: string
  /** Names the request among those of the client, the same when it is sent again: hexadecimal digits and hyphens. */
  readonly request: string
  /** Number of tokens. Either all of them are taken or none. */
  readonly requests: number
  /** Number of tokens that must remain. */
  readonly leave: number
  readonly now: Date
}

/**
 * Returns a function that builds, once per isolate, one that takes tokens from a client's bucket. It rejects when Redis
 * fails or is late.
 */
export const createTokenBucket = ({
  requests: limit,
  refill,
  timeoutMs,
  places = 300,
}: Bucket): ((env: Env) => (taking: Taking) => Promise<Budget>) =>
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
    const script = redis.createScript<unknown[]>(SCRIPT)
    const interval = refill.seconds * 1000
    const limiter: ReturnType<typeof Ratelimit.tokenBucket> = () => ({
      ...Ratelimit.tokenBucket(refill.requests, `${refill.seconds} s`, limit)(),
      async limit(_, identifier, requests = 1) {
        const [key = '', request, leave, now] = identifier.split(' ')
        const args = [limit, refill.requests, interval, places, now, request, leave, requests]
        const [left, seconds] = await script.exec([key], args.map(String))
        if (!isInteger(left) || !isInteger(seconds)) throw new TypeError('Not a count')
        const reset = Number(now) + seconds * 1000
        return { success: left >= 0, limit, remaining: Math.max(0, left), reset, pending: Promise.resolve() }
      },
    })
    // The client of Redis has the timeout.
    const options = { prefix: 'export-api', ephemeralCache: false, timeout: 0 } as const
    const ratelimit = new Ratelimit({ redis, limiter, ...options })
    return async ({ client, request, requests, leave, now }) => {
      const identifier = `${client} ${request} ${leave} ${now.getTime()}`
      const { success, remaining, reset } = await ratelimit.limit(identifier, { rate: requests })
      return { allowed: success, remaining, refillSeconds: (reset - now.getTime()) / 1000 }
    }
  })

const isInteger = (value: unknown): value is number => Number.isInteger(value)

/**
 * The queue is a text of `request,since,last,needs;`: the refills before the first and the last rejection, and the tokens
 * that the bucket must have. Returns the tokens that are left for a new request, -1 when the request is rejected, and the
 * seconds until the next refill.
 */
const SCRIPT = `#!lua flags=allow-key-locking
local limit, rate, interval = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local places, now = tonumber(ARGV[4]), tonumber(ARGV[5])
local request, leave, requests = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])

local bucket = redis.call('HMGET', KEYS[1], 'refilledAt', 'tokens', 'queue')
local refilledAt = tonumber(bucket[1] or now)
-- Of a Worker whose clock is far ahead. A clock that lags a little must not refill again what others have.
if refilledAt > now + interval then refilledAt = now end
local refills = math.max(0, math.floor((now - refilledAt) / interval))
refilledAt = refilledAt + refills * interval
local tokens = math.min(limit, tonumber(bucket[2] or limit) + refills * rate)

local since, queue, others = refilledAt, {}, {}
for entry, name, first, last, needs in string.gmatch(bucket[3] or '', '(([^,]+),(%d+),(%d+),(%d+);)') do
  local age = refilledAt - tonumber(last)
  -- A caller that waits a minute keeps its place.
  if age <= 6 * interval and age >= -interval then
    if name == request then
      since = tonumber(first)
    else
      table.insert(queue, entry)
      if age <= interval then table.insert(others, {since = tonumber(first), needs = tonumber(needs)}) end
    end
  end
end

-- Tokens are reserved for the requests that wait since an earlier interval, and were sent in this one or the one before.
local own, new = tokens, tokens
for _, other in ipairs(others) do
  if other.since < since and other.needs <= own then own = own - other.needs end
  if other.since < refilledAt and other.needs <= new then new = new - other.needs end
end

local remaining = -1
if own >= requests + leave then
  tokens = tokens - requests
  remaining = math.max(0, new - requests)
else
  table.insert(queue, string.format('%s,%.0f,%.0f,%.0f;', request, since, refilledAt, requests + leave))
end

local waiting = table.concat(queue, '', math.max(1, #queue - places + 1))
redis.call('HSET', KEYS[1], 'refilledAt', string.format('%.0f', refilledAt), 'tokens', tokens, 'queue', waiting)
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((limit - tokens) / rate)) * interval)
return {remaining, math.ceil(math.min(interval, refilledAt + interval - now) / 1000)}
`
