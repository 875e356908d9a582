import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startLocalServer } from '../../../connectors/certify/local-server.ts'
import { DEMO } from '../../../drizzle/seed/demo.ts'
import { startProxy } from '../../../emulator/network.ts'
import { startOwnService } from '../../fixtures/own-service.ts'

/** Sends a request as it is written, and returns the response up to the end of its connection. */
async function sendRaw(url: string, lines: readonly string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  return text(socket)
}

const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1])

describe('the proxy', () => {
  async function proxyTo(listener: RequestListener): Promise<string> {
    const target = await startLocalServer(listener)
    const proxy = await startProxy({ host: '0.0.0.0', port: 0, target: target.url })
    onTestFinished(async () => {
      await proxy.close()
      await target.close()
    })
    return proxy.url
  }

  test.for([
    '/cdn-cgi/local/r2/s3/x',
    '//cdn-cgi/x',
    '/api/../cdn-cgi/x',
    '/%63dn-cgi/x',
    '/CDN-CGI/x',
    '/\\cdn-cgi/x',
    '/cdn-cgi?x',
    'http://127.0.0.1/cdn-cgi/x',
    '//[',
    '*',
  ])('answers %s with 404', async (path) => {
    const url = await proxyTo(() => expect.unreachable())
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      expect(statusOf(await sendRaw(url, [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']))).toBe(404)
    }
  })

  // workerd makes the URL of a request from its Host, and miniflare takes another URL or Worker from its own headers.
  test.for([
    [['Host: 127.0.0.1/cdn-cgi/x?']],
    [['Host: 127.0.0.1\\cdn-cgi\\x?']],
    [['Host: a@127.0.0.1']],
    [['Host: 127.0.0.1', 'Host: 127.0.0.1/cdn-cgi/x?']],
    [['Host: 127.0.0.1', 'MF-Original-URL: http://127.0.0.1/cdn-cgi/x']],
    [['Host: 127.0.0.1', 'mf-route-override: publish']],
  ] as const)('answers %j with 404', async ([headers]) => {
    const url = await proxyTo(() => expect.unreachable())
    expect(statusOf(await sendRaw(url, ['GET /api HTTP/1.1', ...headers]))).toBe(404)
  })

  // The target could take for the next request what it does not read as a body.
  test.for([
    ['GET', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'],
    ['GET', ['Content-Length: 5'], 'hello'],
    ['POST', ['Transfer-Encoding: gzip, chunked'], '5\r\nhello\r\n0\r\n\r\n'],
    ['POST', ['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ] as const)('answers %s with %j and a body with 400', async ([method, headers, body]) => {
    const url = await proxyTo(() => expect.unreachable())
    expect(statusOf(await sendRaw(url, [`${method} /a HTTP/1.1`, 'Host: x', ...headers], body))).toBe(400)
  })

  test('keeps the request and the response, and adds the address of the client', async () => {
    const received: unknown[] = []
    const url = await proxyTo(async (request, response) => {
      const { method, url: path, headers } = request
      received.push([method, path, headers.host, headers['cf-connecting-ip'], await text(request)])
      response.writeHead(418, 'Odd', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Own', 'x']).end('body')
    })
    const response = await fetch(`${url}/a/b.md?c=/../%2e&d#e`, { method: 'POST', body: 'sent' })
    expect([response.status, response.statusText, await response.text()]).toEqual([418, 'Odd', 'body'])
    expect([response.headers.getSetCookie(), response.headers.get('X-Own')]).toEqual([['a=1', 'b=2'], 'x'])
    await fetch(url, { headers: { 'CF-Connecting-IP': '203.0.113.1' } })
    const { host } = new URL(url)
    expect(received).toEqual([
      ['POST', '/a/b.md?c=/../%2e&d', host, '127.0.0.1', 'sent'],
      ['GET', '/', host, '203.0.113.1', ''],
    ])
  })

  test.for([
    '/length',
    '/chunks',
    '/nothing',
  ])('breaks the connection when the target breaks it: %s', async (path) => {
    const url = await proxyTo(async (_, response) => {
      if (path === '/length') response.setHeader('Content-Length', 100)
      if (path !== '/nothing') response.write('some')
      await delay(20)
      response.destroy()
    })
    await expect(fetch(url + path).then((response) => response.text())).rejects.toThrow()
  })
})

const addresses = Object.values(networkInterfaces()).flatMap((some = []) => some)
/** An address of this machine that is another machine's to the service, if there is one. */
const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)

const docsAt = (host: string) => ['GET /api/export/v1/docs HTTP/1.1', `Host: ${host}`]

test('a service that only this machine reaches answers 403 at another host, and names the option', async () => {
  expect(statusOf(await sendRaw(inject('serviceUrl'), docsAt('localhost')))).toBe(200)
  for (const path of ['/api/export/v1/brands', '/api/sharing/v1/shares']) {
    const lines = [`GET ${path} HTTP/1.1`, 'Host: host.docker.internal']
    const answer = await sendRaw(inject('serviceUrl'), lines)
    expect([statusOf(answer), answer]).toEqual([403, expect.stringContaining('npm start -- --allow-network')])
    expect(answer).not.toMatch(/rotate|https:/)
  }
})

test('a service behind TLS proxies serves its host, and writes URLs with https', async () => {
  const service = await startOwnService({
    allowNetwork: true,
    demoPage: { keys: DEMO.keys, restate: async () => [] },
  })
  onTestFinished(service.close)
  for (const [host, protocol, origin] of [
    ['export.test:443', 'https', 'https://export.test'],
    ['Export.Test', 'HTTPS, http', 'https://export.test'],
    ['export.test', 'http, https', 'http://export.test'],
  ]) {
    const lines = ['GET /api/export/v1/docs.md HTTP/1.1', `Host: ${host}`, `X-Forwarded-Proto: ${protocol}`]
    expect(await sendRaw(service.url, lines)).toContain(`${origin}/api/export/v1/`)
  }
  expect(statusOf(await sendRaw(service.url, docsAt('host.docker.internal')))).toBe(200)
  expect(statusOf(await sendRaw(service.url, ['GET /cdn-cgi/mf/scheduled HTTP/1.1', 'Host: x']))).toBe(404)
})

// What miniflare takes from the headers of a request: CoreHeaders in node_modules/miniflare/dist/src/index.js.
test.for([
  ['192.0.2.7', 'MF-Original-URL: http://localhost/api/export/v1/docs', 404],
  ['192.0.2.7', 'MF-Original-URL: http://192.0.2.7/api/export/v1/docs', 403],
  ['localhost', 'MF-Route-Override: refresh', 404],
  ['localhost', 'MF-CF-Blob: {"clientIp":"192.0.2.7"}', 404],
] as const)('a service that only this machine reaches answers "Host: %s" and "%s" with %i', async ([
  host,
  header,
  status,
]) => {
  expect(statusOf(await sendRaw(inject('serviceUrl'), [...docsAt(host), header]))).toBe(status)
})

test('only a client of this machine changes the past of the demo, and sees the button', async () => {
  let changes = 0
  const restate = async () => [`Change ${++changes}.`]
  // Of both families where there are both: the address of an IPv4 client is then mapped to IPv6.
  const service = await startOwnService({
    host: addresses.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0',
    demoPage: { keys: DEMO.keys, restate },
  })
  onTestFinished(service.close)
  const { port } = new URL(service.url)
  const ask = async (address: string, headers: readonly string[]) => {
    const url = `http://${address}:${port}`
    const sent = [...headers, 'Sec-Fetch-Site: same-origin', 'CF-Connecting-IP: 127.0.0.1']
    const page = await sendRaw(url, ['GET /api/export/v1/docs HTTP/1.1', ...sent])
    const lines = ['POST /api/export/v1/docs/restate HTTP/1.1', 'Content-Length: 0', ...sent]
    return [statusOf(await sendRaw(url, lines)), page.includes('data-restate')]
  }
  for (const host of ['localhost', '127.0.0.1:1', '[::1]'])
    expect(await ask('127.0.0.1', [`Host: ${host}`]), host).toEqual([200, true])
  for (const headers of [['Host: export.test'], ['Host: localhost', 'X-Forwarded-Proto: https']])
    expect(await ask('127.0.0.1', headers), headers.join()).toEqual([403, false])
  if (own)
    for (const host of [own.address, 'localhost'])
      expect(await ask(own.address, [`Host: ${host}`]), host).toEqual([403, false])
  expect(changes).toBe(3)
})

test('a service that others reach answers below /cdn-cgi with 404', async () => {
  const service = await startOwnService({ host: '0.0.0.0' })
  onTestFinished(service.close)
  const { url, accessKeyId, secretAccessKey } = service.bucket
  const { pathname } = new URL(url)
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', retries: 0 })
  expect((await client.fetch(`${url}/x`)).status).toBe(404)
  expect((await client.fetch(url)).status).toBe(200)
  for (const host of [service.url, ...(own ? [`http://${own.address}:${new URL(service.url).port}`] : [])]) {
    expect((await client.fetch(host + pathname)).status).toBe(404)
    for (const path of ['local/r2/s3', 'handler/scheduled', 'mf/scheduled', 'platform-proxy', 'explorer'])
      expect((await fetch(`${host}/cdn-cgi/${path}`)).status, path).toBe(404)
  }
})
