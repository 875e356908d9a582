import type { Middleware } from './context.ts'
import { httpError } from './errors.ts'

/** The hosts of this machine, which others do not reach. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

/** Whether a host name or address is this machine's own. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * Answers 403 to plain HTTP, which would show keys and rows to everyone on the way. Serves this machine's own hosts, and
 * the emulator's network, which the binding `ALLOW_HTTP` stands for.
 */
export const requireHttps: Middleware = async (context, next) => {
  const { protocol, hostname } = new URL(context.req.url)
  if (protocol !== 'https:' && !isLoopback(hostname) && !('ALLOW_HTTP' in context.env)) {
    throw httpError('plainHttp')
  }
  await next()
}

/** Makes browsers keep to HTTPS for a year, and to the type that a response states. */
export const addTransportHeaders: Middleware = async (context, next) => {
  await next()
  const { headers } = context.res
  headers.set('X-Content-Type-Options', 'nosniff')
  if (context.req.url.startsWith('https:')) headers.set('Strict-Transport-Security', 'max-age=31536000')
}
