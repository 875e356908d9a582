import { outerLimit } from '../limits/outer-limit.ts'
import { type RateLimitOptions, rateLimit } from '../limits/rate-limit.ts'
import type { App, Middleware, RequestContext } from '../request/context.ts'
import { parseEnv } from '../request/env.ts'
import { BASE, createApp, methods, nameEndpoint, type Result, send } from './app.ts'

type Check = {
  /** Path of the endpoint in the log. */
  readonly path: string
  /** Methods, as in the header `Allow`. */
  readonly allow?: string
  readonly rateLimit?: RateLimitOptions | undefined
}

/**
 * The checks of a request until its handler runs, in the order of docs/specification.md#order-of-checks: the first that fails
 * answers. The handler's one statement finds key, plan, brand and rows (lib/access/access.ts).
 */
export const checks = ({ path, allow = 'GET, HEAD', rateLimit: options }: Check): Middleware[] => [
  nameEndpoint(path),
  methods(allow),
  prepareContext,
  outerLimit,
  rateLimit(options),
]

export type Endpoint = Omit<Check, 'allow'> & {
  /** Runs the remaining checks and returns the result; throws `HttpError`. */
  readonly handler: (context: RequestContext) => Promise<Result>
}

/** Returns the app of one endpoint: GET and HEAD at its path below {@link BASE}, 405 for other methods, 404 elsewhere. */
export function endpoint({ path, rateLimit, handler }: Endpoint): App {
  const app = createApp()
  const route = BASE + path
  app.use(route, ...checks({ path, rateLimit }))
  app.all(route, async (context) => send(context, await handler(context).catch(throwError)))
  return app
}

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
