import { readFile } from 'node:fs/promises'
import { afterAll, expect, inject, test } from 'vitest'
import { DEMO } from '../../drizzle/seed/demo.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { brand, database } from '../fixtures/rows.ts'
import { browserTest } from '../fixtures/site/browser.ts'
import { openReferencePage, PHONE } from '../fixtures/site/reference-page.ts'
import { tenant } from '../fixtures/tenant.ts'

const PAGE = '/api/export/v1/docs'

/** The first of five days in the default window. */
const first = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10)

const db = database()
const its = await tenant(db)
const other = await brand(db, its.org, { name: 'Other' })
for (const name of ['visibility', 'sentiment'])
  for (const brandId of [its.brandId, other]) await fillDaily(db, { brandId, name, first, rows: 5, days: 5 })
const demoKeys = [
  { label: 'whole', key: its.key, note: 'reads two brands' },
  { label: 'unknown', key: mintApiKey(), note: 'returns 401' },
]
const service = await startOwnService({ demoKeys })
afterAll(() => service.close())

test('serves the page with the keys, its security headers, and no ETag', async () => {
  const original = await fetch(inject('serviceUrl') + PAGE)
  const headers = { 'If-None-Match': original.headers.get('ETag') ?? '' }
  const response = await fetch(service.url + PAGE, { headers })
  expect(response.status).toBe(200)
  const { etag, ...expected } = Object.fromEntries(original.headers)
  const changing = { 'content-length': '', 'x-request-id': '', 'server-timing': '' }
  expect({ ...Object.fromEntries(response.headers), ...changing }).toEqual({ ...expected, ...changing })
  expect(etag).toBeDefined()
  const page = await response.text()
  for (const { label, key, note } of demoKeys)
    for (const text of [label, key, note]) expect(page).toContain(text)
  expect(page).toContain(`value="${its.key}"`)
  expect((await fetch(`${service.url}${PAGE}.md`, { headers })).status).toBe(200)
  expect((await fetch(service.url + PAGE, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${service.url}/docs`)).url).toBe(service.url + PAGE)
  const head = await fetch(service.url + PAGE, { method: 'HEAD' })
  expect([head.status, head.headers.get('ETag'), await head.text()]).toEqual([200, null, ''])
})

test('production has none of it', async () => {
  expect((await fetch(`${inject('serviceUrl')}${PAGE}/demo.js`)).status).toBe(404)
  const bundle = await readFile(new URL('../../dist/docs.js', import.meta.url), 'utf8')
  for (const { key } of DEMO.keys) expect(bundle).not.toContain(key)
  expect(bundle).not.toMatch(/demo/i)
})

browserTest('draws the first chart without a click, and leaves the view and the address', async () => {
  const { page, messages, section } = await openReferencePage(PHONE, service.url + PAGE)
  await section('visibility').locator('.chart').waitFor()
  expect(await page.locator('#key-state').textContent()).toBe('This key can read Acme, Other.')
  expect(await page.locator('.chart').count()).toBe(1)
  const position = page.evaluate('[document.activeElement.tagName, scrollX, scrollY]')
  expect(await position).toEqual(['BODY', 0, 0])
  expect(page.url()).toBe(service.url + PAGE)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(messages).toEqual([])
})

browserTest('draws the chart of the endpoint, the brand and the dates of the address', async () => {
  const fragment = `#sentiment?brandId=${other}&fromDate=${first}`
  const { page, section } = await openReferencePage(PHONE, service.url + PAGE + fragment)
  await section('sentiment').locator('.chart').waitFor()
  expect(page.url()).toBe(service.url + PAGE + fragment)
  expect(await page.locator('#sentiment [data-parameter=brandId]').inputValue()).toBe(other)
  expect(await page.locator('#sentiment [data-parameter=fromDate]').inputValue()).toBe(first)
  expect(await page.locator('.chart').count()).toBe(1)
})
