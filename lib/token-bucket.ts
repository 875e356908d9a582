import { Ratelimit } from '@upstash/ratelimit'
import type { Redis } from '@upstash/redis/cloudflare'

type Bucket = {
  /** Tokens of a full bucket. */
  readonly requests: number
  readonly refill: { readonly requests: number; readonly seconds: number }
}

type Request = {
  /** Whose bucket it is. */
  readonly client: string
  /** Names the request among those of the client, the same when it is sent again: without spaces and commas. */
  readonly request: string
  /** Tokens that must remain after it. */
  readonly leave: number
}

/** Milliseconds after the next refill for which a denied request keeps its place. */
const GRACE_MS = 10_000

/** Returns what a limiter with {@link tokenBucket} calls an identifier. */
export const identifierOf = ({ client, request, leave }: Request): string => `${client} ${request} ${leave}`

/**
 * Returns a limiter's algorithm: a token bucket in which denied requests wait in a queue. A request passes when the bucket
 * has tokens for it and for the requests before it. So no client is passed over when others wait for the same refill.
 */
export function tokenBucket(
  redis: Redis,
  { requests: limit, refill }: Bucket,
): ReturnType<typeof Ratelimit.tokenBucket> {
  const script = redis.createScript<[remaining: number, reset: number, limit: number]>(SCRIPT)
  const interval = refill.seconds * 1000
  return () => ({
    ...Ratelimit.tokenBucket(refill.requests, `${refill.seconds} s`, limit)(),
    async limit(_, identifier, rate = 1) {
      const [key = '', request = '', leave = ''] = identifier.split(' ')
      const args = [limit, interval, refill.requests, GRACE_MS, Date.now(), request, leave, rate].map(String)
      const [remaining, reset, effective] = await script.exec([key], args)
      const success = remaining >= 0
      return {
        success,
        limit: effective,
        remaining: Math.max(0, remaining),
        reset,
        pending: Promise.resolve(),
      }
    },
  })
}

/**
 * The queue is a text of `request,ends,tokens,leave;` in the order of the first denial. The tokens of those that can pass now
 * are reserved. Returns the tokens that are left, -1 when the request is denied, the time of the next refill, and the limit.
 */
const SCRIPT = `#!lua flags=allow-key-locking
local limit, interval, rate = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local grace, now = tonumber(ARGV[4]), tonumber(ARGV[5])
local request, leave, requests = ARGV[6], ARGV[7], ARGV[8]

local bucket = redis.call('HMGET', KEYS[1], 'refilledAt', 'tokens', 'queue')
local refilledAt, tokens = tonumber(bucket[1] or now), tonumber(bucket[2] or limit)
local refills = math.max(0, math.floor((now - refilledAt) / interval))
refilledAt = refilledAt + refills * interval
tokens = math.min(limit, tokens + refills * rate)

local place = string.format('%s,%.0f,%s,%s;', request, refilledAt + interval + grace, requests, leave)
local before = bucket[3] or ''
if not string.find(';' .. before, ';' .. request .. ',', 1, true) then before = before .. place end

local queue, free, passed = {}, tokens, false
for entry, name, ends, size, rest in string.gmatch(before, '(([^,]+),(%d+),(%d+),(%d+);)') do
  local own = name == request
  if own or tonumber(ends) > now then
    local fits = free - size >= tonumber(rest)
    if fits then free = free - size end
    if own and fits then
      passed = true
      tokens = tokens - size
    elseif #queue < limit then
      table.insert(queue, own and place or entry)
    end
  end
end

redis.call('HSET', KEYS[1], 'refilledAt', string.format('%.0f', refilledAt), 'tokens', tokens, 'queue', table.concat(queue))
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((limit - tokens) / rate)) * interval)
return {passed and free or -1, refilledAt + interval, limit}
`
