import { type App, nameEndpoint, type RequestContext } from '../app.ts'
import { prepareContext, throwError } from '../endpoint.ts'
import { secretsOf } from '../hmac.ts'
import { createShareApp, fromBucket, methods } from './api.ts'
import { type Bucket, type BucketRange, bucketOf, objectName } from './bucket.ts'
import { shareError } from './errors.ts'
import { isSigned, SHARE_BASE, URL_SECONDS } from './signed-url.ts'

const PATH = `${SHARE_BASE}/files/:file{[0-9a-f-]{36}\\.parquet}`

/** Builds the Worker that serves files by their signed URLs, from the bucket alone: GET and HEAD, ranges and conditions. */
export function sharedFiles(): App {
  const app = createShareApp()
  app.use(PATH, nameEndpoint('/share/files'))
  app.get(PATH, prepareContext, async (context) => serve(context).catch(throwError))
  app.all(PATH, methods('GET, HEAD'))
  return app
}

async function serve(context: RequestContext): Promise<Response> {
  const { now, env } = context.var
  const { pathname, searchParams } = new URL(context.req.url)
  const id = pathname.slice(pathname.lastIndexOf('/') + 1, -'.parquet'.length)
  if (!(await isSigned(id, searchParams, { now, secrets: secretsOf(env) }))) throw shareError('signature')
  const bucket = bucketOf(context.env)
  if (context.req.method === 'HEAD') {
    const found = await fromBucket(context, () => bucket.head(objectName(id)))
    if (found === null) throw shareError('file')
    return new Response(null, { headers: { ...headersOf(found), 'Content-Length': String(found.size) } })
  }
  return download(context, bucket, id)
}

async function download(context: RequestContext, bucket: Bucket, id: string): Promise<Response> {
  const { headers } = context.req.raw
  const asked = parseRange(headers.get('Range') ?? '')
  const range =
    asked && (await appliesTo(headers.get('If-Range'), () => bucket.head(objectName(id)))) ? asked : undefined
  const found = await fromBucket(context, () => bucket.get(objectName(id), { range, onlyIf: headers }))
  if (found === null) throw shareError('file')
  const { size, body } = found
  if (body === undefined) {
    const isUnchanged = headers.has('If-None-Match') || headers.has('If-Modified-Since')
    return new Response(null, { status: isUnchanged ? 304 : 412, headers: headersOf(found) })
  }
  const { offset, length } = applied(range, size)
  // R2 returns the whole object then.
  if (length <= 0) {
    await body.cancel()
    throw shareError('range', { 'Content-Range': `bytes */${size}` })
  }
  return new Response(body, {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headersOf(found),
      'Content-Length': String(length),
      ...(range !== undefined && { 'Content-Range': `bytes ${offset}-${offset + length - 1}/${size}` }),
    },
  })
}

/** Parses a single range; undefined for anything else, which asks for the whole file (RFC 9110). */
function parseRange(header: string): BucketRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (first === '') return Number(last) > 0 ? { suffix: Number(last) } : undefined
  if (last === '') return { offset: Number(first) }
  const length = Number(last) - Number(first) + 1
  return length > 0 ? { offset: Number(first), length } : undefined
}

/** Whether a range applies: a client that holds a part of another object asks for the whole (If-Range). */
const appliesTo = async (ifRange: string | null, head: () => ReturnType<Bucket['head']>): Promise<boolean> =>
  ifRange === null || (await head())?.httpEtag === ifRange

/** Returns the part of an object that a range selects. */
function applied(range: BucketRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size }
  if ('suffix' in range)
    return { offset: Math.max(size - range.suffix, 0), length: Math.min(range.suffix, size) }
  return { offset: range.offset, length: Math.min(range.length ?? size, size - range.offset) }
}

const headersOf = ({ httpEtag }: { httpEtag: string }): Record<string, string> => ({
  'Content-Type': 'application/vnd.apache.parquet',
  'Accept-Ranges': 'bytes',
  ETag: httpEtag,
  // The bytes behind a URL never change.
  'Cache-Control': `private, max-age=${URL_SECONDS}, immutable`,
})
