import type { Middleware, RequestContext } from '../request/context.ts'
import { httpError } from '../request/errors.ts'
import { recent } from '../request/isolate.ts'

/** Seconds over which the binding counts (wrangler.toml). */
const SECONDS = 60

/** Cloudflare's rate-limit binding. */
type Limiter = { limit(options: { key: string }): Promise<{ success: boolean }> }

/** Hashes of keys that the database found active last. They only decide which counter counts a request. */
const accepted = recent<true>(10_000)

/**
 * Answers 429 when the API key, or for a key that this isolate did not see accepted the client's address, has sent more
 * requests than the binding `OUTER_LIMITER` allows, before Redis and Postgres are asked. Serves the request when the
 * binding is missing or fails.
 */
export const outerLimit: Middleware = async (context, next) => {
  const { log } = context.var
  const { keyHash } = log
  const isAccepted = keyHash !== null && accepted.get(keyHash) !== undefined
  const key = isAccepted ? `key ${keyHash}` : `address ${addressOf(context)}`
  if (await isExceeded(context.env, key)) throw httpError('outerLimit', { 'Retry-After': String(SECONDS) })
  await next()
  if (keyHash === null) return
  if (context.res.status === 401) accepted.delete(keyHash)
  else if (log.keyId !== null) accepted.set(keyHash, true)
}

/** Returns the client's address, an IPv6 one by its /64; empty outside Cloudflare. */
export const addressOf = (context: RequestContext): string =>
  network(context.req.header('CF-Connecting-IP') ?? '')

async function isExceeded(bindings: object, key: string): Promise<boolean> {
  if (!hasLimiter(bindings)) return logUnavailable(bindings, 'MissingBinding')
  try {
    return !(await bindings.OUTER_LIMITER.limit({ key })).success
  } catch (error) {
    return logUnavailable(bindings, error instanceof Error ? error.name : typeof error)
  }
}

const hasLimiter = (bindings: object): bindings is { OUTER_LIMITER: Limiter } =>
  'OUTER_LIMITER' in bindings &&
  typeof bindings.OUTER_LIMITER === 'object' &&
  bindings.OUTER_LIMITER !== null &&
  'limit' in bindings.OUTER_LIMITER

const logged = new WeakSet<object>()

/** Logs once per isolate that requests are served without the limit. */
function logUnavailable(bindings: object, error_name: string): false {
  if (!logged.has(bindings)) console.error(JSON.stringify({ event: 'outer_limit_unavailable', error_name }))
  logged.add(bindings)
  return false
}

/** Returns the part of an IP address that one client holds: an IPv4 address, or the /64 of an IPv6 address. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'))
