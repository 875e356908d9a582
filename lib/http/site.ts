import type { App } from '../request/context.ts'
import { httpError } from '../request/errors.ts'
import { addHeaders, BASE, createApp, methods, nameEndpoint, send } from './app.ts'

/** The service in the texts of files. Stands for the scheme and host of the request. */
export const EXAMPLE_ORIGIN = 'https://api.example.com'

/** One file of a site; `immutable` when its name changes with its content, so that clients may cache it for good. */
export type SiteFile = { readonly type: string; readonly body: string; readonly immutable: boolean }

export type Site = {
  /** Path of the page, below {@link BASE}. */
  readonly path: string
  /** Other paths of the host that lead to the page. */
  readonly aliases?: readonly string[]
  /** Returns the files by their path below the page's; the page itself has the empty path. */
  readonly files: () => Promise<Readonly<Record<string, SiteFile>>>
}

/**
 * What a browser may do with the page, into which people paste keys: run, show and request what comes from this origin
 * only, submit no form, send no referrer, and never be framed.
 */
const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}

const CACHING = { page: 'no-cache', immutable: 'public, max-age=31536000, immutable' }

/** Builds the app of fixed files that need no key, no budget and no bindings. */
export function site({ path, aliases = [], files }: Site): App {
  const page = BASE + path
  const find = async (pathname: string): Promise<SiteFile> => {
    const name = pathname.slice(page.length)
    const file = Object.entries(await files()).find(([each]) => each === name)?.[1]
    if (!pathname.startsWith(page) || file === undefined) throw httpError('unknownPath')
    return file
  }

  const app = createApp()
  app.use(addHeaders(SECURITY_HEADERS))
  for (const alias of aliases) {
    app.use(alias, nameEndpoint(path), methods('GET, HEAD'))
    app.all(alias, (context) => context.redirect(page))
  }
  app.use(async (context, next) => {
    await find(context.req.path)
    await next()
  })
  app.use(nameEndpoint(path), methods('GET, HEAD'))
  app.all('*', async (context) => {
    const { type, body, immutable } = await find(context.req.path)
    const text = body.replaceAll(EXAMPLE_ORIGIN, new URL(context.req.url).origin)
    const headers = { 'Content-Type': type, 'Cache-Control': immutable ? CACHING.immutable : CACHING.page }
    return send(context, { body: text, headers, cacheable: true })
  })
  return app
}
