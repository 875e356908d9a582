import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
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

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
/** The first of five days in the default window. */
const first = daysAgo(10)

const db = database()
const its = await tenant(db)
const other = await brand(db, its.org, { name: 'Other' })
for (const [brandId, name] of [
  [its.brandId, 'sentiment'],
  [other, 'visibility'],
  [other, 'sentiment'],
] as const)
  await fillDaily(db, { brandId, name, first, rows: 5, days: 5 })
// Sixty days that end six days ago, as those of a brand can that is not asked about every day.
await fillDaily(db, { brandId: its.brandId, name: 'visibility', first: daysAgo(65), rows: 60, days: 60 })
const demoKeys = [
  { label: 'whole', key: its.key, note: 'reads two brands' },
  { label: 'unknown', key: mintApiKey(), note: 'returns 401' },
]
async function restate(): Promise<string[]> {
  await db.query(
    `insert into daily.changes
       (brand_id, endpoint, date, rows, totals, digest, bytes, causes, changed_at, first_changed_at, batch)
     select $1, 'visibility', $2::date, 0, '{}', '000000000000000', 0, json_build_object('prompts', now), now, now, 1
     from to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
    [other, first],
  )
  return ['Retired a prompt.']
}
const service = await startOwnService({ demoPage: { keys: demoKeys, restate } })
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

test('changes the past of the demo for the page alone', async () => {
  const send = (headers: HeadersInit, method = 'POST') =>
    fetch(`${service.url}${PAGE}/restate`, { method, headers })
  expect((await send({})).status).toBe(404)
  expect((await send({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(404)
  expect((await send({ 'Sec-Fetch-Site': 'same-origin' }, 'GET')).status).toBe(404)
  const { port } = new URL(service.url)
  const rebound = {
    path: `${PAGE}/restate`,
    method: 'POST',
    headers: { Host: `evil.example:${port}`, 'Sec-Fetch-Site': 'same-origin' },
  }
  const [response] = await once(request({ port, ...rebound }).end(), 'response')
  expect(response.resume().statusCode).toBe(403)
})

test('production has none of it', async () => {
  expect((await fetch(`${inject('serviceUrl')}${PAGE}/demo.js`)).status).toBe(404)
  const bundle = await readFile(new URL('../../dist/docs.js', import.meta.url), 'utf8')
  for (const { key } of DEMO.keys) expect(bundle).not.toContain(key)
  expect(bundle).not.toMatch(/demo/i)
})

browserTest('begins with the figures of a brand, and leaves the view and the address', async () => {
  const { page, messages, section } = await openReferencePage(PHONE, service.url + PAGE)
  const own = section('introduction')
  await own.locator('.plot canvas').first().waitFor()
  expect(await page.locator('#key-state').textContent()).toBe('This key can read Acme, Other.')
  expect(await own.locator('h2').first().textContent()).toBe('Acme Corporation')
  expect(await own.locator('.facts + .lead').textContent()).toBe('Visibility is unchanged at 100 %.')
  expect((await own.locator('.tile').allTextContents()).map((text) => text.replace(/%.*/, '%'))).toEqual([
    'Visibility100.0 %',
    'Sentiment50.0 %',
  ])
  expect(await own.getByText('An AI model answers').isVisible()).toBe(false)
  expect(await own.locator('#own-request').textContent()).toContain(`brandId=${its.brandId}`)
  const position = page.evaluate('[document.activeElement.tagName, scrollX, scrollY]')
  expect(await position).toEqual(['BODY', 0, 0])
  expect(page.url()).toBe(service.url + PAGE)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  // The address keeps what one chooses, and shows it again.
  await own.getByLabel('Period').selectOption('Last 7 days')
  const address = page.url()
  expect(new URL(address).hash).toBe(`#own-form?brandId=${its.brandId}&period=Last+7+days`)
  await page.goto('about:blank')
  await page.goto(address)
  await own.locator('.plot canvas').first().waitFor()
  expect(await own.locator('.facts').textContent()).toContain('Last 7 days: ')
  await page.emulateMedia({ media: 'print' })
  expect(await own.locator('.tile').first().isVisible()).toBe(true)
  expect(await own.locator('select').first().isVisible()).toBe(false)
  expect(messages).toEqual([])
})

browserTest('keeps what the reader opened and chose when the citations arrive', async () => {
  const { page, useKey } = await openReferencePage()
  // An error ends the other requests, and what they say.
  await page.route('**/v1/sentiment**', (route) => route.fulfill({ status: 503, json: { error: 'Busy.' } }))
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/visibility'))
  await page.route('**/v1/visibility**', () => ended)
  await useKey(its.key)
  await ended
  expect(await page.locator('#own-state').textContent()).toBe('503: Busy.')
  await page.unrouteAll()
  const late = Promise.withResolvers<void>()
  await page.route('**/v1/citation-share**', async (route) => {
    await late.promise
    await route.continue()
  })
  await useKey(its.key)
  const period = page.locator('#own-controls').getByLabel('Period')
  await page.locator('#report > summary').click()
  await period.selectOption('Last 7 days')
  await period.focus()
  late.resolve()
  await expect.poll(() => page.locator('#own-state').textContent()).toBe('')
  expect(await period.inputValue()).toBe('Last 7 days')
  expect(await period.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await page.locator('#report[open]').count()).toBe(1)
})

browserTest('changes the past on a click, and shows what changed and why while one looks', async () => {
  const { page, messages, field } = await openReferencePage(PHONE, service.url + PAGE)
  const panel = page.locator('[data-changed]')
  await field('changes', 'brandId').selectOption(other)
  await panel.locator('summary').click()
  await panel.getByText('Nothing changed').waitFor()
  await panel.getByRole('button').click()
  await panel.getByText('Retired a prompt.').waitFor()
  const line = `${first}, because a prompt was retired or edited (visibility)`
  await panel.getByText(line).waitFor({ timeout: 30_000 })
  expect(messages).toEqual([])
})

browserTest('draws the chart of the endpoint, the brand and the dates of the address', async () => {
  const fragment = `#sentiment?brandId=${other}&fromDate=${first}`
  const { page, section, field } = await openReferencePage(PHONE, service.url + PAGE + fragment)
  await section('sentiment').locator('.chart').waitFor()
  expect(page.url()).toBe(service.url + PAGE + fragment)
  expect(await section('introduction').locator('.chart').count()).toBe(0)
  // The chart stays that of what was sent, and so does its address.
  await field('sentiment', 'brandId').selectOption(its.brandId)
  await section('sentiment').locator('.chart').getByLabel('Points').selectOption('Weeks')
  expect(await section('sentiment').locator('.facts').textContent()).toBe(`Other · ${first}`)
  expect(page.url()).toMatch(`#sentiment-try?brandId=${other}&fromDate=${first}&points=week`)
})
