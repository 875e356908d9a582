import { httpError } from './errors.ts'
import { type Entity, encodeWithEtag } from './etag.ts'
import { admitMethod, BASE, respond, type Worker, worker } from './worker.ts'

/** One file of a site; `lasting` when its name changes with its text, so that it can be kept for good. */
export type SiteFile = { readonly type: string; readonly body: string; readonly cacheable: boolean }

export type Site = {
  /** Path below {@link BASE} of the page. */
  readonly path: string
  /** The files by their path below the page's, the page itself under the empty one. */
  readonly files: () => Promise<Readonly<Record<string, SiteFile>>>
}

/**
 * What a browser may do with the page, which is where people paste keys: run, show and ask what comes from here and
 * nothing else, send no form, tell nobody where it was, and never be framed.
 */
const POLICY = {
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
  'X-Content-Type-Options': 'nosniff',
}

const CACHING = { page: 'no-cache', cacheable: 'public, max-age=31536000, immutable' }

/** A Worker that serves fixed files to everybody: it needs no key, spends no budget and asks its environment for nothing. */
export function site({ path, files }: Site): Worker {
  // Kept when they are done, and not while they are made: no request waits for another's promise.
  const entities = new Map<string, Entity>()

  return worker(async (context, log) => {
    for (const [name, value] of Object.entries(POLICY)) context.header(name, value)
    const { pathname } = new URL(context.req.url)
    const found = Object.entries(await files()).find(([name]) => BASE + path + name === pathname)
    if (found === undefined) throw httpError('unknownPath')
    admitMethod(context, path, log)

    const [name, { type, body, cacheable }] = found
    const entity = entities.get(name) ?? (await encodeWithEtag(body))
    entities.set(name, entity)
    const headers = { 'Content-Type': type, 'Cache-Control': cacheable ? CACHING.cacheable : CACHING.page }
    return respond(context, { body, entity, headers, cacheable: true }, log)
  })
}
