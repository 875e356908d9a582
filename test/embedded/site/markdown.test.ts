import { randomUUID } from 'node:crypto'
import { marked } from 'marked'
import { expect, inject, test } from 'vitest'

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${inject('serviceUrl')}/api/export/v1${path}`, init)

const TEXTS = [
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/docs.md', 'text/markdown; charset=utf-8'],
] as const

test.each(TEXTS)('%s needs no key and no budget, and is revalidated by its ETag', async (path, type) => {
  const response = await request(path, { headers: { Cookie: `session=${randomUUID()}` } })
  expect(response.status).toBe(200)
  const { headers } = response
  expect(headers.get('Content-Type')).toBe(type)
  expect(headers.get('Cache-Control')).toBe('no-cache')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'")
  for (const name of ['RateLimit', 'RateLimit-Policy']) expect(headers.get(name)).toBeNull()

  const again = await request(path, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('every link leads to a document of this service, from llms.txt, docs.md and the page', async () => {
  const linked = new Set<string>()
  for (const [path] of TEXTS) {
    const text = await (await request(path)).text()
    expect(text).not.toContain('api.example.com')
    marked.walkTokens(marked.lexer(text), (token) => {
      if (token.type === 'link') linked.add(token.href)
    })
  }
  const page = await (await request('/docs')).text()
  const [, alternate = ''] = /<link rel="alternate" type="text\/markdown" href="([^"]+)">/.exec(page) ?? []
  linked.add(new URL(alternate, `${inject('serviceUrl')}/api/export/v1/docs`).href)

  const base = `${inject('serviceUrl')}/api/export/v1`
  const documents = new Set([...linked].map((link) => link.replace(/#.*/, '')))
  expect([...documents].sort()).toEqual([`${base}/docs`, `${base}/docs.md`, `${base}/openapi.json`])
  for (const link of documents) expect((await fetch(link)).status, link).toBe(200)
  const anchors = [...linked].flatMap((link) => /#(.*)/.exec(link)?.[1] ?? [])
  const headings = marked
    .lexer(await (await request('/docs.md')).text())
    .flatMap((token) => (token.type === 'heading' ? slug(token.text) : []))
  expect(headings).toEqual(expect.arrayContaining(anchors))
  expect(anchors).not.toEqual([])
})

/** The anchor that renderers give a heading. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
