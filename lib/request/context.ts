import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { Env } from './env.ts'

/** The services that a request waits for. */
export type Service = 'neon' | 'upstash'

/** What is known of a request so far; written as one line when it is answered. */
export type RequestLog = {
  readonly id: string
  readonly method: string
  readonly start: number
  /** SHA-256 (hex) of the API key; null when the request has none of its form. */
  keyHash: string | null
  /** The caller's trace and span (W3C Trace Context), if it sent them. */
  readonly traceparent: string | undefined
  /** Path of the endpoint, below the base; null when no endpoint matches. */
  endpoint: string | null
  keyId: string | null
  organizationId: string | null
  rows: number | null
  /** Number of requests sent to each service. */
  readonly subrequests: Record<Service, number>
  /** Milliseconds waited for each service. */
  readonly waits: Map<Service, number>
}

/** What a client has left: whether the request passes, how many remain, and the seconds until the next refill. */
export type Budget = { readonly allowed: boolean; readonly remaining: number; readonly refillSeconds: number }

/** Takes tokens for rows of a file from the client's bucket of rows. */
export type ConsumeRows = (tokens: number) => Promise<Budget | null>

/** What Hono's context carries: the Worker's bindings, and the values that middleware sets. */
export type AppEnv = {
  Bindings: object
  Variables: {
    log: RequestLog
    env: Env
    /** The time, for what goes on after the request's own. */
    clock: () => Date
    /** The request's time. */
    now: Date
    /** What is left after this request; null while Redis is unavailable. */
    budget: Budget | null
    consumeRows: ConsumeRows
  }
}
export type App = Hono<AppEnv>
export type RequestContext = Context<AppEnv>
export type Middleware = MiddlewareHandler<AppEnv>
