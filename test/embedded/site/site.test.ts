import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, inject, test } from 'vitest'
import document from '../../../functions/openapi.json' with { type: 'json' }
import { PLANS } from '../../../lib/access/plans.ts'
import { EXAMPLE_ORIGIN } from '../../../lib/http/site.ts'
import { RATE_LIMIT } from '../../../lib/limits/rate-limit.ts'
import { files } from '../../../site/files.ts'
import { call } from '../../fixtures/call.ts'
import { reference } from '../../fixtures/site/reference.ts'

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${inject('serviceUrl')}/api/export/v1/docs${path}`, init)

const built = await files()
const page = built['']?.body ?? ''
const assets = Object.keys(built).filter((name) => built[name]?.immutable)

test('serves the page and its files without a key', async () => {
  // The script, the chart, why a rate moved, what changed, two parts that they share, the style and the icon.
  expect(assets).toHaveLength(8)
  for (const [name, { type, body }] of Object.entries(built)) {
    const response = await request(name)
    expect([response.status, response.headers.get('Content-Type')], name).toEqual([200, type])
    expect(await response.text()).toBe(body.replaceAll(EXAMPLE_ORIGIN, inject('serviceUrl')))
    const head = await request(name, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  }
})

test('is at most 60 KiB with its first chart after gzip', () => {
  const isOnDemand = (name: string) => /moved the other way|Looks again every/.test(built[name]?.body ?? '')
  const sizes = ['', ...assets.filter((name) => !isOnDemand(name))].map(
    (name) => gzipSync(built[name]?.body ?? '').length,
  )
  expect(sizes.reduce((total, size) => total + size)).toBeLessThanOrEqual(60 * 1024)
})

test('caches hashed files forever, and revalidates the page by its ETag', async () => {
  for (const [name, { immutable }] of Object.entries(built)) {
    const { headers } = await request(name)
    const tag = headers.get('ETag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/)
    expect(headers.get('Cache-Control')).toBe(immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    const again = await request(name, { headers: { 'If-None-Match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await request(name, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
  }
})

test.for(['/', '/docs', '/docs/', '/api/export/v1/docs/'])('%s leads to the page', async (path) => {
  const ask = (method: string) => fetch(inject('serviceUrl') + path, { method, redirect: 'manual' })
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask(method)
    expect([status, headers.get('Location')]).toEqual([302, '/api/export/v1/docs'])
  }
  const other = await ask('POST')
  expect([other.status, other.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
})

test('does not count against the rate limit', async () => {
  const headers = { Cookie: `session=${randomUUID()}` }
  const response = await request('', { headers })
  for (const name of ['RateLimit', 'RateLimit-Policy']) expect(response.headers.get(name)).toBeNull()
  expect((await call('/openapi.json', { headers })).headers.get('RateLimit')).toMatch(/r=99;/)
})

test('sets a content security policy that allows this origin only', async () => {
  const answers = [await request(''), await request('/nothing'), await request('', { method: 'POST' })]
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 405])
  for (const answer of answers) {
    const policy = answer.headers.get('Content-Security-Policy') ?? ''
    const directives = new Map(
      policy.split('; ').map((each) => [each.replace(/ .*/, ''), each.replace(/^\S+ /, '')]),
    )
    for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types']) {
      expect(directives.get(name), name).toBe("'none'")
    }
    for (const name of ['script-src', 'style-src', 'img-src', 'connect-src']) {
      expect(directives.get(name), name).toBe("'self'")
    }
    expect(directives.get('require-trusted-types-for')).toBe("'script'")
    expect(policy).not.toMatch(/unsafe|http|data:|\*/)
    for (const name of ['Opener', 'Resource']) {
      expect(answer.headers.get(`Cross-Origin-${name}-Policy`), name).toBe('same-origin')
    }
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer')
  }
})

test('refers to no other host, and has no inline script or style', () => {
  expect(page.match(/<script\b/g)).toHaveLength(1)
  expect(page).toMatch(/<script type="module" src="docs\/[0-9a-f]{16}\.js"><\/script>/)
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+="/)
  const addresses = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address = '']) => address)
  expect(addresses.filter((address) => !/^(#|docs\/|docs\.md$|openapi\.json$)/.test(address))).toEqual([])
  for (const name of assets) {
    const foreign = built[name]?.body
      .match(/https?:\/\/[^\s"'`)]*/g)
      ?.filter((each) => each !== 'http://www.w3.org/2000/svg')
    expect(foreign ?? [], name).toEqual([])
    expect(built[name]?.body, name).not.toMatch(
      /localStorage|sessionStorage|indexedDB|document\.cookie|pushState|sendBeacon/,
    )
  }
})

const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)

test('every link within the page leads to one element', () => {
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, id] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id)
})

test('describes every endpoint, field, parameter, status, header and limit', () => {
  const text = page
    .replaceAll('<wbr>', '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  const plain = text.replace(/<[^>]+>/g, '')
  const expectText = (part: string) =>
    expect(plain.replace(/\s+/g, ' '), part).toContain(part.replaceAll('`', '').replace(/\s+/g, ' '))
  expect(reference.endpoints.map(({ path }) => path)).toEqual(Object.keys(document.paths))
  for (const { id, path, summary, description, fields, parameters, statuses } of reference.endpoints) {
    expect(text).toContain(`<section class="endpoint" id="${id}"`)
    for (const part of [path, summary, description]) expectText(part)
    for (const part of [...fields, ...parameters])
      for (const each of [part.name, part.description]) expectText(each)
    for (const { name } of fields) expect(ids).toContain(`${id}.${name}`)
    for (const { name } of parameters) expect(ids).toContain(`parameters.${name}`)
    for (const status of statuses.filter((each) => each >= '400')) expect(ids).toContain(`errors.${status}`)
  }
  for (const { name, description } of reference.headers) {
    expect(ids).toContain(`response-headers.${name}`)
    expectText(description)
  }
  for (const plan of Object.keys(PLANS)) expectText(plan)
  expectText(`${RATE_LIMIT.requests} requests`)
  expectText(`${PLANS.agency.lookbackDays} days`)
})

test('escapes the text of the document', async () => {
  const { page: render } = await import('../../../site/page.ts')
  const [first] = reference.endpoints
  if (first === undefined) throw new Error('No endpoint')
  const hostile = '<img src=x onerror=alert(1)> `</code><script>` & "quoted"'
  const fields = [{ name: hostile, type: hostile, nullable: false, description: hostile, additive: false }]
  const html = String(
    await render({
      reference: { ...reference, summary: hostile, endpoints: [{ ...first, description: hostile, fields }] },
      markdown: `# Title\n\n## Guide\n\n${hostile}\n`,
      files: { script: 'a.js', style: 'a.css', icon: 'a.svg' },
    }),
  )
  expect(html).not.toContain('<img')
  expect(html.match(/<script/g)).toHaveLength(1)
})
