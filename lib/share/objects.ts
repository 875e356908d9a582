import { matchesEtag, methods, nameEndpoint } from '../http/app.ts'
import { prepareContext, throwError } from '../http/endpoint.ts'
import type { App, RequestContext } from '../request/context.ts'
import { secretsOf } from '../request/hash.ts'
import { createShareApp, fromBucket } from './api.ts'
import { type BucketRange, bucketOf, objectName } from './bucket.ts'
import { shareError } from './errors.ts'
import { isSigned, SHARE_BASE } from './signed-url.ts'

const PATH = `${SHARE_BASE}/objects/:object{[0-9a-f-]{36}\\.parquet}`

/** Builds the Worker that serves objects by their signed URLs, from the bucket alone: GET and HEAD, ranges and conditions. */
export function sharedObjects(): App {
  const app = createShareApp()
  app.use(PATH, nameEndpoint('/share/objects'), methods('GET, HEAD'), prepareContext)
  app.all(PATH, async (context) => serve(context).catch(throwError))
  return app
}

async function serve(context: RequestContext): Promise<Response> {
  const { now, env } = context.var
  const { pathname, searchParams } = new URL(context.req.url)
  const id = pathname.slice(pathname.lastIndexOf('/') + 1, -'.parquet'.length)
  if (!(await isSigned(id, searchParams, { now, secrets: secretsOf(env) }))) throw shareError('signature')
  const name = objectName(id)
  const { method } = context.req
  const [ifNoneMatch, ifRange] = [context.req.header('If-None-Match'), context.req.header('If-Range')]
  const isConditional = ifNoneMatch !== undefined || ifRange !== undefined
  if (method !== 'HEAD' && !isConditional) return download(context, name, requestedRange(context))

  const object = await fromBucket(context, () => bucketOf(context.env).head(name))
  if (object === null) throw shareError('object')
  const headers = headersOf(context, object)
  if (matchesEtag(ifNoneMatch, object.httpEtag)) return new Response(null, { status: 304, headers })
  if (method === 'HEAD')
    return new Response(null, { headers: { ...headers, 'Content-Length': String(object.size) } })
  // A client that holds a part of another object asks for the whole.
  const isWhole = ifRange !== undefined && ifRange !== object.httpEtag
  return download(context, name, isWhole ? undefined : requestedRange(context))
}

async function download(
  context: RequestContext,
  name: string,
  range: BucketRange | undefined,
): Promise<Response> {
  const bucket = bucketOf(context.env)
  const object = await fromBucket(context, () =>
    bucket.get(name, { range }).catch(async (error) => {
      // R2 fails for a range after the end.
      const size = range && (await bucket.head(name))?.size
      if (size === undefined || applied(range, size).length > 0) throw error
      throw shareError('range', { 'Content-Range': `bytes */${size}` })
    }),
  )
  if (object === null) throw shareError('object')
  const { size, body } = object
  const { offset, length } = applied(range, size)
  return new Response(body, {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headersOf(context, object),
      'Content-Length': String(length),
      ...(range !== undefined && { 'Content-Range': `bytes ${offset}-${offset + length - 1}/${size}` }),
    },
  })
}

/** Returns the range of a request; undefined for none and for several, which ask for the whole object (RFC 9110). */
function requestedRange(context: RequestContext): BucketRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(context.req.header('Range') ?? '') ?? []
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  if (last === '') return { offset: Number(first) }
  const length = Number(last) - Number(first) + 1
  return length > 0 ? { offset: Number(first), length } : undefined
}

/** Returns the part of an object that a range selects. */
function applied(range: BucketRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size }
  if ('suffix' in range)
    return { offset: Math.max(size - range.suffix, 0), length: Math.min(range.suffix, size) }
  return { offset: range.offset, length: Math.min(range.length ?? size, size - range.offset) }
}

const headersOf = (context: RequestContext, { httpEtag }: { httpEtag: string }): Record<string, string> => ({
  'Content-Type': 'application/vnd.apache.parquet',
  'Accept-Ranges': 'bytes',
  ETag: httpEtag,
  // The bytes behind a URL never change.
  'Cache-Control': `private, max-age=${context.var.env.URL_SECONDS}, immutable`,
})
