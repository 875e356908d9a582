import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, inject, test } from 'vitest'
import document from '../../../functions/openapi.json' with { type: 'json' }
import { PLANS } from '../../../lib/plans.ts'
import { BUDGET } from '../../../lib/rate-limit.ts'
import { files } from '../../../site/files.ts'
import { call } from '../../support/call.ts'
import { expectError } from '../../support/expect-error.ts'
import { reference } from '../../support/reference.ts'

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${inject('serviceUrl')}/api/export/v1/docs${path}`, init)

const made = await files()
const page = made['']?.body ?? ''
const assets = Object.keys(made).filter((name) => name !== '')

test('serves the page and its files as they are made from the document, without a key', async () => {
  expect(assets).toHaveLength(3)
  for (const [name, { type, body }] of Object.entries(made)) {
    const response = await ask(name)
    expect([response.status, response.headers.get('Content-Type')], name).toEqual([200, type])
    expect(await response.text()).toBe(body)
    const head = await ask(name, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  }
})

test('the bundle contains every file', async () => {
  const bundle = await readFile(new URL('../../../dist/docs.js', import.meta.url), 'utf8')
  for (const name of assets) expect(bundle).toContain(name)
  expect(bundle).not.toContain('node:')
})

test('hashed files are cacheable for good, and the page is revalidated by its ETag', async () => {
  for (const name of Object.keys(made)) {
    const { headers } = await ask(name)
    const tag = headers.get('ETag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/)
    expect(headers.get('Cache-Control')).toBe(
      name === '' ? 'no-cache' : 'public, max-age=31536000, immutable',
    )
    const again = await ask(name, { headers: { 'If-None-Match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await ask(name, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
  }
})

test('consumes no budget', async () => {
  const headers = { Cookie: `session=${randomUUID()}` }
  expect((await ask('', { headers })).headers.get('RateLimit')).toBeNull()
  expect((await call('/openapi.json', { headers })).headers.get('RateLimit')).toMatch(/r=99;/)
})

test('lets a browser run, show and ask nothing from elsewhere', async () => {
  for (const answer of [await ask(''), await ask('/nothing'), await ask('', { method: 'POST' })]) {
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

test('names no other host and has no inline script or style', () => {
  expect(page.match(/<script\b/g)).toHaveLength(1)
  expect(page).toMatch(/<script type="module" src="docs\/[0-9a-f]{16}\.js"><\/script>/)
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+="/)
  const addresses = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address = '']) => address)
  expect(addresses.filter((address) => !/^(#|docs\/|openapi\.json$)/.test(address))).toEqual([])
  for (const name of assets) {
    const foreign = made[name]?.body
      .match(/https?:\/\/[^\s"'`)]*/g)
      ?.filter((each) => each !== 'http://www.w3.org/2000/svg')
    expect(foreign ?? [], name).toEqual([])
    expect(made[name]?.body, name).not.toMatch(
      /localStorage|sessionStorage|indexedDB|document\.cookie|pushState|sendBeacon/,
    )
  }
})

test('answers nothing else', async () => {
  for (const path of [
    '/docs/',
    '/docsx',
    '/DOCS',
    '/docs/index.html',
    '/docs/constructor',
    `/docs${assets[0]}/`,
  ]) {
    expectError(await call(path), 404)
  }
  for (const path of ['/docs', `/docs${assets[0]}`]) {
    const answer = await call(path, { method: 'DELETE' })
    expectError(answer, 405)
    expect(answer.headers.get('Allow')).toBe('GET, HEAD')
  }
})

test('describes every endpoint, field, formula, parameter, status, header and limit', () => {
  const text = page
    .replaceAll('<wbr>', '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  const plain = text.replace(/<[^>]+>/g, '')
  const says = (part: string) => expect(plain, part).toContain(part.replaceAll('`', ''))
  expect(reference.endpoints.map(({ path }) => path)).toEqual(Object.keys(document.paths))
  for (const { id, path, summary, description, fields, parameters, formula } of reference.endpoints) {
    expect(text).toContain(`<section class="endpoint" id="${id}"`)
    for (const part of [path, summary, description]) says(part)
    for (const part of [...fields, ...parameters])
      for (const each of [part.name, part.description]) says(each)
    for (const side of [formula?.part, formula?.whole]) if (side !== undefined) says(side)
  }
  for (const { status, description, sentence = '' } of reference.refusals)
    for (const part of [status, description, sentence]) says(part)
  for (const { name, description } of reference.headers) for (const part of [name, description]) says(part)
  for (const plan of Object.keys(PLANS)) says(plan)
  says(`${BUDGET.requests} requests`)
  says(`${PLANS.agency.lookbackDays} days`)
})

test('escapes the text of the document', async () => {
  const { page: write } = await import('../../../site/page.ts')
  const [first] = reference.endpoints
  if (first === undefined) throw new Error('There is no endpoint')
  const hostile = '<img src=x onerror=alert(1)> `</code><script>` & "quoted"'
  const fields = [{ name: hostile, type: hostile, nullable: false, description: hostile }]
  const html = String(
    await write({
      reference: { ...reference, summary: hostile, endpoints: [{ ...first, description: hostile, fields }] },
      files: { script: 'a.js', style: 'a.css', icon: 'a.svg' },
    }),
  )
  expect(html).not.toContain('<img')
  expect(html.match(/<script/g)).toHaveLength(1)
})
