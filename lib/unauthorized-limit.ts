import { createBlocklist } from './blocklist.ts'
import type { Middleware } from './context.ts'
import { httpError } from './errors.ts'
import { addressOf, OUTER_LIMIT_SECONDS } from './outer-limit.ts'

/** One in so many requests of the outer limit may be 401. */
const FRACTION = 30

const PERIOD_MS = OUTER_LIMIT_SECONDS * 1000

/** Milliseconds for which a key that was accepted passes from an address with too many 401s. */
const ACCEPTED_MS = 600_000

/**
 * Addresses with recent 401s. Each 401 lasts for its part of the period, one after the other: an address has too many
 * when another one would last beyond the period.
 */
const unauthorized = createBlocklist(10_000)

/** Hashes of keys that the database accepted. It decides about them on every request: they are only let through to it. */
const { isBlocked: isAccepted, blockUntil: acceptUntil } = createBlocklist(10_000)

/**
 * Answers 429 to an address with too many 401s, before Redis and Postgres are asked. A key that this isolate saw accepted
 * passes, so that others behind the same address keep working.
 */
export const unauthorizedLimit: Middleware = async (context, next) => {
  const { now, clock, env, log } = context.var
  const { keyHash } = log
  const address = addressOf(context)
  const lastsMs = Math.min(PERIOD_MS, (PERIOD_MS * FRACTION) / Number(env.OUTER_LIMIT))
  const excessMs = unauthorized.endOf(address) + lastsMs - PERIOD_MS - now.getTime()
  if (excessMs > 0 && (keyHash === null || !isAccepted(keyHash, now))) {
    throw httpError('unauthorizedLimit', { 'Retry-After': String(Math.ceil(excessMs / 1000)) })
  }
  await next()
  const time = clock()
  const ms = time.getTime()
  if (context.res.status === 401) {
    const end = Math.max(ms, unauthorized.endOf(address)) + lastsMs
    unauthorized.blockUntil(address, Math.min(end, ms + PERIOD_MS), time)
  } else if (keyHash !== null && log.keyId !== null) {
    acceptUntil(keyHash, ms + ACCEPTED_MS, time)
  }
}
