import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis/cloudflare'
import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { sha256 } from './api-key.ts'
import { createBlocklist } from './blocklist.ts'
import type { Env } from './env.ts'
import { memoize } from './memoize.ts'
import type { RequestLog } from './request-log.ts'

/** Requests in each clock minute, over all endpoints together (specification, section 8). */
export const BUDGET = { requests: 100, seconds: 60 } as const

/**
 * How long the counter is waited for (ms): an export must not fail because the counter did. Where everything is slow the
 * counter is not away, so it has three times as long as the database took; where no database is asked, it has longer
 * when it has answered somebody lately: the first who finds it silent waits for the others. And it is not away while it
 * answers other callers of this isolate.
 */
const PATIENCE = { ms: 800, timesTheDatabase: 3, trusted: 2500, trustedForMs: 60_000 }

/** Milliseconds after which a silent counter is given up in any case. */
const LIMIT_MS = 8000

/** What the counter said: whether the request may pass, how many are left, and the wait until the budget is whole again. */
export type Budget = { readonly passes: boolean; readonly remaining: number; readonly resetSeconds: number }

/** A request that is counted, and for whom. */
export type Consumption = {
  readonly caller: string
  readonly env: Env
  readonly now: Date
  readonly log: RequestLog
}

/**
 * Callers (hashed) that this isolate has seen over their budget. It decides nothing: it only keeps the database from being
 * asked before the counter was. It holds nothing about keys.
 */
const overBudget = createBlocklist(10_000)

/** Whether the counter has refused this caller before, in the same minute. */
export const isBlocked = overBudget.has

/**
 * Counts a request against its caller's budget; null when the counter is away, and the request is served. `answering`
 * settles when the database has answered, where it is asked beside the counter.
 */
export async function consume(
  spending: Consumption,
  answering: Promise<unknown> | null,
): Promise<Budget | null> {
  const { env, log } = spending
  const start = Date.now()
  const heard = await Promise.race([count(spending), patience(env, start, answering)])
  if (typeof heard !== 'string') return heard
  if (counter(env).answered <= start) counter(env).answered = 0
  logFailure(log, heard)
  return null
}

async function patience(env: Env, start: number, answering: Promise<unknown> | null): Promise<'late'> {
  const took = answering && Promise.allSettled([answering]).then(() => Date.now() - start)
  await sleep(PATIENCE.ms)
  const trusted = start - counter(env).answered < PATIENCE.trustedForMs ? PATIENCE.trusted : 0
  const whole = took === null ? trusted : PATIENCE.timesTheDatabase * (await took)
  const end = () => Math.min(start + LIMIT_MS, Math.max(start + whole, counter(env).answered + PATIENCE.ms))
  while (Date.now() < end()) await sleep(end() - Date.now())
  return 'late'
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What the counter says; the kind of its failure when it says nothing that can be used. */
async function count({ caller, env, now }: Consumption): Promise<Budget | string> {
  try {
    const { success, limit, remaining, reset } = await counter(env).limiter.limit(caller)
    counter(env).answered = Date.now()
    if (limit !== BUDGET.requests || !Number.isInteger(remaining)) throw new TypeError('This is no count')
    if (!success) overBudget.add(caller, reset, now)
    return toBudget(success, remaining, reset, now)
  } catch (error) {
    return error instanceof Error ? error.name : typeof error
  }
}

function logFailure({ id }: RequestLog, kind: string): void {
  console.error(JSON.stringify({ event: 'rate_budget_unavailable', request_id: id, kind }))
}

const toBudget = (passes: boolean, remaining: number, reset: number, now: Date): Budget => ({
  passes,
  remaining: Math.max(0, remaining),
  resetSeconds: Math.min(BUDGET.seconds, Math.max(1, Math.ceil((reset - now.getTime()) / 1000))),
})

/** The headers that tell a caller its budget (IETF draft, structured fields). */
export function budgetHeaders(budget: Budget | null): Record<string, string> {
  const policy = { 'RateLimit-Policy': `"default";q=${BUDGET.requests};w=${BUDGET.seconds}` }
  if (budget === null) return policy
  return { ...policy, RateLimit: `"default";r=${budget.remaining};t=${budget.resetSeconds}` }
}

/** The counter, and when it last answered anybody in this isolate (ms). */
const counter = memoize((env: Env) => ({
  answered: 0,
  limiter: new Ratelimit({
    redis: new Redis({
      url: env.UPSTASH_REDIS_REST_URL,
      token: env.UPSTASH_REDIS_REST_TOKEN,
      enableTelemetry: false,
      // Requests that run side by side must not share one answer: the runtime ties it to the first of them.
      enableAutoPipelining: false,
      // One script counts and tells: there is no earlier write to wait for.
      readYourWrites: false,
      retry: { retries: 0 },
      signal: () => AbortSignal.timeout(LIMIT_MS),
    }),
    limiter: Ratelimit.fixedWindow(BUDGET.requests, `${BUDGET.seconds} s`),
    prefix: 'export-api',
    ephemeralCache: false,
    timeout: 0,
  }),
}))

/**
 * Whose budget a request spends (specification, section 8): a session's, else a network address's with a User-Agent.
 * Hashed, since cookies and tokens are secrets and a User-Agent can be long.
 */
export async function identity(context: Context, env: Env): Promise<string> {
  const cookie = getCookie(context, env.SESSION_COOKIE)
  if (cookie) return sha256(`cookie ${cookie}`)
  const authorization = context.req.header('Authorization')
  if (authorization) return sha256(`authorization ${authorization}`)
  const address = network(context.req.header('CF-Connecting-IP') ?? '')
  return sha256(`network ${address} ${context.req.header('User-Agent') ?? ''}`)
}

/** The part of an address that one caller holds: all of an IPv4 address, the /64 of an IPv6 one. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!address.includes(':')) return address
  // Only what the first four groups are is of interest.
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'))
