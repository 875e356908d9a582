import { outerLimit } from '../limits/outer-limit.ts'
import { type RateLimitOptions, rateLimit } from '../limits/rate-limit.ts'
import type { App, Middleware, RequestContext } from '../request/context.ts'
import { parseEnv } from '../request/env.ts'
import { BASE, createApp, methods, nameEndpoint, type Result, send } from './app.ts'

export type Endpoint = {
  /** Path below {@link BASE}. */
  readonly path: string
  readonly rateLimit?: RateLimitOptions
  /** Runs the remaining checks and returns the result; throws `HttpError`. */
  readonly handler: (context: RequestContext) => Promise<Result>
}

/** Returns the app of one endpoint: GET and HEAD at its path, 405 for other methods, 404 elsewhere. */
export function endpoint({ path, rateLimit: options, handler }: Endpoint): App {
  const app = createApp()
  const route = BASE + path
  app.use(route, nameEndpoint(path), methods('GET, HEAD'), ...limits(options))
  app.all(route, async (context) => send(context, await handler(context).catch(throwError)))
  return app
}

/** Returns what comes between the check of path and method and the handler. */
export const limits = (options?: RateLimitOptions): [Middleware, Middleware, Middleware] => [
  prepareContext,
  outerLimit,
  rateLimit(options),
]

/** Parses the bindings and takes the time. */
export const prepareContext: Middleware = (context, next) => {
  const clock = () => new Date()
  context.set('clock', clock)
  context.set('now', clock())
  context.set('env', parseEnv(context.env))
  return next()
}

/** Throws what was thrown as an `Error`: Hono passes nothing else to its error handler. */
export function throwError(thrown: unknown): never {
  throw thrown instanceof Error ? thrown : new TypeError(`Not an Error: ${typeof thrown}`)
}
