import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Miniflare } from 'miniflare'
import { request } from 'undici'
import { SHARE_BASE } from '../../../lib/share/signed-url.ts'

const TABLE = `${SHARE_BASE}/shares/export/schemas/metrics/tables/citation_share`

/** The responses that a client needs to read `citation_share`. Their URLs name the service. */
export type Copy = {
  readonly service: string
  readonly metadata: string
  readonly query: string
  /** The URLs of the files, and their bytes by the last segment of their paths. */
  readonly urls: readonly string[]
  readonly files: ReadonlyMap<string, Buffer>
}

export async function copyShare(service: string, key: string): Promise<Copy> {
  const headers = { Authorization: `Bearer ${key}` }
  const metadata = await request(`${service}${TABLE}/metadata`, { headers })
  const query = await request(`${service}${TABLE}/query`, { method: 'POST', headers, body: '{}' })
  const text = await query.body.text()
  const urls = [...text.matchAll(/"url":"([^"]+)"/g)].map(([, url = '']) => url)
  const files = new Map<string, Buffer>()
  for (const url of urls) files.set(nameOf(new URL(url).pathname), await buffer((await request(url)).body))
  return { service, metadata: await metadata.body.text(), query: text, urls, files }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Serves a copy from memory, by Node. Returns how many requests for files it has received. */
export async function serveFromMemory({ service, metadata, query, files }: Copy) {
  let requests = 0
  const server = createServer((incoming, response) => {
    const name = nameOf(new URL(incoming.url ?? '', service).pathname)
    const file = files.get(name)
    if (file === undefined) {
      response.writeHead(200, { 'delta-table-version': 1 })
      response.end(name === 'metadata' ? metadata : query.replaceAll(service, origin))
      return
    }
    requests += 1
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(incoming.headers.range ?? '') ?? []
    const start = Number(first ?? 0)
    const end = last ? Math.min(Number(last), file.length - 1) : file.length - 1
    response.writeHead(first === undefined ? 200 : 206, {
      'Accept-Ranges': 'bytes',
      'Content-Length': end - start + 1,
      ...(first !== undefined && { 'Content-Range': `bytes ${start}-${end}/${file.length}` }),
    })
    response.end(incoming.method === 'HEAD' ? undefined : file.subarray(start, end + 1))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return { origin, requests: () => requests, close: () => server.close().closeAllConnections() }
}

/** A Worker that serves objects and does nothing else. */
const WORKER = `export default {
  async fetch(request, { BUCKET }) {
    const { pathname } = new URL(request.url)
    const name = pathname.slice(pathname.lastIndexOf('/') + 1)
    const headers = { 'Accept-Ranges': 'bytes', 'delta-table-version': '1' }
    if (request.method === 'HEAD') {
      const { size } = await BUCKET.head(name)
      return new Response(null, { headers: { ...headers, 'Content-Length': size } })
    }
    const { body, size, range } = await BUCKET.get(name, { range: request.headers })
    if (!request.headers.has('Range')) return new Response(body, { headers })
    const { offset, length } = range
    const part = 'bytes ' + offset + '-' + (offset + length - 1) + '/' + size
    return new Response(body, { status: 206, headers: { ...headers, 'Content-Range': part, 'Content-Length': length } })
  },
}`

/** Serves a copy from the emulator's R2, by a Worker of its own. */
export async function serveFromBucket({ service, metadata, query, files }: Copy) {
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    modules: true,
    script: WORKER,
    compatibilityDate: '2026-07-30',
    r2Buckets: ['BUCKET'],
  })
  const { origin } = await miniflare.ready
  const bucket = await miniflare.getR2Bucket('BUCKET')
  await bucket.put('metadata', metadata)
  await bucket.put('query', query.replaceAll(service, origin))
  for (const [name, bytes] of files) await bucket.put(name, new Uint8Array(bytes))
  return { origin, close: () => miniflare.dispose() }
}
