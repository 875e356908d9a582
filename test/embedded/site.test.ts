import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { marked } from 'marked'
import { expect, inject, test } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { EXAMPLE_ORIGIN } from '../../lib/http/site.ts'
import { files, llms } from '../../site/files.ts'
import { anchorOf } from '../../site/guides.ts'
import { call } from '../fixtures/call.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { reference } from '../fixtures/site/reference.ts'

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${inject('serviceUrl')}/api/export/v1${path}`, init)

const built = await files()
const page = built['']?.body ?? ''
const assets = Object.keys(built).filter((name) => built[name]?.immutable)

/** All fixed files by their paths. */
const FILES = [
  ...Object.entries(built).map(([name, file]) => [`/docs${name}`, file] as const),
  ...Object.values(await llms()).map((file) => ['/llms.txt', file] as const),
]

test('serves the page and its files without a key and a budget', async () => {
  for (const [path, { type, body }] of FILES) {
    const headers = { Cookie: `session=${randomUUID()}` }
    const response = await request(path, { headers })
    expect([response.status, response.headers.get('Content-Type')], path).toEqual([200, type])
    expect(await response.text()).toBe(body.replaceAll(EXAMPLE_ORIGIN, inject('serviceUrl')))
    for (const name of ['RateLimit', 'RateLimit-Policy']) expect(response.headers.get(name)).toBeNull()
    expect((await call('/openapi.json', { headers })).headers.get('RateLimit')).toMatch(/r=99;/)
    const head = await request(path, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  }
})

test('is at most 60 KiB with its first chart after gzip', () => {
  const withImports = (name: string): string[] => {
    const imports = built[name]?.body.matchAll(/(?:from|import)"\.(\/\w+\.js)"/g) ?? []
    return [name, ...[...imports].flatMap(([, each = '']) => withImports(each))]
  }
  const parts = assets.filter(
    (name) => !/^\/[A-Z0-9]{8}\.js$/.test(name) || /uplot/.test(built[name]?.body ?? ''),
  )
  const first = new Set(['', ...parts].flatMap(withImports))
  const sizes = [...first].map((name) => gzipSync(built[name]?.body ?? '').length)
  expect(sizes.reduce((total, size) => total + size)).toBeLessThanOrEqual(60 * 1024)
})

test('caches hashed files forever, and revalidates the page by its ETag', async () => {
  for (const [path, { immutable }] of FILES) {
    const { headers } = await request(path)
    const tag = headers.get('ETag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/)
    expect(headers.get('Cache-Control')).toBe(immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    const again = await request(path, { headers: { 'If-None-Match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await request(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
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

test('sets a content security policy that allows this origin only', async () => {
  const answers = [
    await request('/llms.txt'),
    await request('/docs/nothing'),
    await request('/docs', { method: 'POST' }),
  ]
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

test('every link of the page leads to one element, or to a file', () => {
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, name] of page.matchAll(/="docs(\/[^"]+)"/g)) expect(Object.keys(built)).toContain(name)
  for (const [, id] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id)
})

test('has the program of docs/sync.md as a file', async () => {
  const [program = ''] = (await readCodeBlocks('sync.md'))('Python', 'python')
  expect(built['/loader.py']?.body).toBe(program)
  expect(page).toContain('<a href="docs/loader.py" download>')
})

// What its guides say: test/unit/site-markdown.test.ts.
test('describes every endpoint and field, and has anchors of parameters, errors and headers', () => {
  const text = page.replace(/<[^>]+>/g, '')
  const decoded = text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const plain = decoded.replace(/\s+/g, ' ')
  const expectText = (part: string) =>
    expect(plain, part).toContain(part.replaceAll('`', '').replace(/\s+/g, ' '))
  expect(reference.endpoints.map(({ path }) => path)).toEqual(Object.keys(document.paths))
  for (const { id, path, summary, description, fields, parameters, statuses } of reference.endpoints) {
    for (const part of [path, summary, description]) expectText(part)
    for (const field of fields) for (const part of [field.name, field.description]) expectText(part)
    expect(ids).toEqual(
      expect.arrayContaining([
        ...[id, ...fields.map(({ name }) => `${id}.${name}`)],
        ...parameters.map(({ name }) => `parameters.${name}`),
        ...statuses.filter((each) => each >= '400').map((status) => `errors.${status}`),
      ]),
    )
  }
  expect(page).toContain(
    '<label for="sentiment-fromDate"><code>fromDate</code> <span class="about">or 30 days ago<',
  )
  for (const { name } of reference.headers) expect(ids).toContain(`response-headers.${name}`)
})

test('escapes the text of the document', async () => {
  const { page: render } = await import('../../site/page.ts')
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

test('every link of llms.txt and docs.md leads to a document of this service', async () => {
  const linked = new Set<string>()
  for (const path of ['/llms.txt', '/docs.md']) {
    const text = await (await request(path)).text()
    expect(text).not.toContain('api.example.com')
    marked.walkTokens(marked.lexer(text), (token) => {
      if (token.type === 'link') linked.add(token.href)
    })
  }
  const base = `${inject('serviceUrl')}/api/export/v1`
  const documents = new Set([...linked].map((link) => link.replace(/#.*/, '')))
  expect([...documents].sort()).toEqual([`${base}/docs`, `${base}/docs.md`, `${base}/openapi.json`])
  for (const link of documents) expect((await fetch(link)).status, link).toBe(200)
  const anchors = [...linked].flatMap((link) => /#(.*)/.exec(link)?.[1] ?? [])
  const headings = marked
    .lexer(await (await request('/docs.md')).text())
    .flatMap((token) => (token.type === 'heading' ? anchorOf(token.text) : []))
  expect(headings).toEqual(expect.arrayContaining(anchors))
  expect(anchors).not.toEqual([])
})
