import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { pipeline } from 'node:stream'
import { portOf } from '../cli/local/port.ts'
import { isLoopback } from '../lib/http/app.ts'

interface ProxyOptions {
  host: string
  /** 0 for any free port. */
  port: number
  /** The URL of miniflare, without a trailing slash. */
  target: string
}

/**
 * Listens for other machines, and passes on the requests that a Worker answers. The others are 404: below `/cdn-cgi`,
 * miniflare gives access to buckets.
 */
export async function startProxy({ host, port, target }: ProxyOptions) {
  const server = createServer((incoming, outgoing) => {
    if (!isForWorkers(incoming)) outgoing.writeHead(404).end()
    else if (!isFramed(incoming)) outgoing.writeHead(400, { Connection: 'close' }).end()
    else forward(incoming, outgoing, target)
  }).listen(port, host)
  await once(server, 'listening')
  return {
    url: `http://${reachable(host)}:${portOf(server)}`,
    close: async () => {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

/** Returns the host with which this machine reaches a server that listens on all its addresses. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}

/** No Worker has other paths. workerd resolves dots, backslashes and the host of a path. */
const PATH = /^(\/(?!cdn-cgi|\.)[\w.~-]+)*\/?$/i

/** workerd makes a request's URL from its host, which could otherwise contain a path. */
const HOST = /^[\w.:[\]-]+$/

/** Whether miniflare passes a request to the Worker of its path. Headers `MF-…` name another URL or Worker. */
function isForWorkers({ url = '', headersDistinct }: IncomingMessage): boolean {
  const [path = ''] = url.split('?')
  const [host = '', ...others] = headersDistinct.host ?? []
  const names = Object.keys(headersDistinct)
  return (
    PATH.test(path) &&
    HOST.test(host) &&
    URL.canParse(`http://${host}`) &&
    others.length === 0 &&
    !names.some((name) => name.startsWith('mf-'))
  )
}

/** Whether the end of the body is clear to the target too: Node sends the body of another method than POST without it. */
function isFramed({ method, headers }: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length = '0' } = headers
  return method === 'POST'
    ? coding === undefined || coding === 'chunked'
    : coding === undefined && Number(length) === 0
}

/** Headers of one connection (RFC 9110, 7.6.1). Node writes those of the next one. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** Returns the headers that pass, in turn a name and its value. */
const passed = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, index) => !HOP_BY_HOP.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''))

/** Streams a request to `target` and its response back. When either side breaks off, so does the other. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: string): void {
  const { method = 'GET', url = '/', rawHeaders, headers, socket } = incoming
  const forwarded = String(headers['x-forwarded-proto'] ?? '')
  const address = socket.remoteAddress?.replace('::ffff:', '') ?? ''
  const added = headers['cf-connecting-ip'] === undefined ? ['CF-Connecting-IP', address] : []
  // The demo is changed from this machine alone (demo-page-worker.mjs). A caller that sends it itself only loses that.
  if (!isLoopback(address)) added.push('Emulator-Remote', address)
  // A new connection for each request: workerd closes idle ones.
  // A proxy with TLS in front of this one: the Workers write their own URLs with https. The first of a list is the client's.
  if (/^https *(,|$)/i.test(forwarded)) added.push('MF-Original-URL', `https://${headers.host}${url}`)
  const options = { method, headers: [...passed(rawHeaders), ...added], agent: false }
  const upstream = request(target + url, options, (response) => {
    const { statusCode = 502, statusMessage } = response
    outgoing.writeHead(statusCode, statusMessage, passed(response.rawHeaders)).flushHeaders()
    // Destroys the connection when the response is cut short.
    pipeline(response, outgoing, () => undefined)
  })
  upstream.on('error', () => outgoing.destroy())
  outgoing.on('close', () => upstream.destroy())
  incoming.pipe(upstream)
}
