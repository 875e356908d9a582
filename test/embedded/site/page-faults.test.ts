import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { isPaged } from '../../../reference/reference.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { database } from '../../fixtures/rows.ts'
import { hasBrowser, startBrowser } from '../../fixtures/site/browser.ts'
import { reference } from '../../fixtures/site/reference.ts'
import { openReferencePage, PHONE, type ReferencePage } from '../../fixtures/site/reference-page.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const db = database()
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const OCTOBER = { fromDate: '2026-10-01', toDate: '2026-10-31' }

describe.skipIf(!hasBrowser)('in a browser (skipped without Chromium)', () => {
  let browser: Browser
  let its: Tenant
  let opened: ReferencePage

  beforeAll(async () => {
    browser = await startBrowser()
    its = await tenant(db)
    const rows = { brandId: its.brandId, first: '2026-10-01' }
    for (const { id } of reference.endpoints.filter(isPaged))
      await fillDaily(db, { ...rows, name: id, rows: 5, days: 5 })
    await fillDaily(db, { ...rows, name: 'citations', rows: 1500, days: 20, from: 6 })
  })
  afterAll(() => browser?.close())
  afterEach(() => opened.close())

  async function open(options?: BrowserContextOptions): Promise<ReferencePage> {
    opened = await openReferencePage(browser, options)
    return opened
  }

  test('sends a request to every endpoint, and fits every screen width', async () => {
    const { page, messages, section, useKey, send } = await open(PHONE)
    await useKey(its.key)
    for (const endpoint of reference.endpoints) {
      const { id, fields } = endpoint
      expect(await send(id, isPaged(endpoint) ? OCTOBER : {}), id).toMatch(/^200 /)
      const table = section(id).getByRole('table')
      expect(await table.getByRole('columnheader').allTextContents()).toEqual(fields.map(({ name }) => name))
      expect(await table.getByRole('row').count()).toBeGreaterThan(1)
    }
    for (const width of [390, 320, 768, 1400]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width)
    }
    expect(messages).toEqual([])
  })

  test('follows pages to the last one', async () => {
    const { section, useKey, send } = await open()
    await useKey(its.key)
    expect(await send('citations', OCTOBER)).toMatch(/^200 1000 rows, more on the next page/)
    const next = section('citations').getByRole('button', { name: 'Next page' })
    await next.click()
    await expect
      .poll(() => section('citations').locator('[data-summary]').textContent())
      .toMatch(/^200 505 rows · /)
    expect(await next.isVisible()).toBe(false)
  })

  test('shows errors: a wrong key, a missing parameter, too many requests, no response', async () => {
    const { page, useKey, send } = await open()
    expect(await useKey('svc_live_wrong')).toMatch(/^401: API key missing or invalid/)
    expect(await send('visibility')).toMatch(/^401 API key missing or invalid/)
    await page.getByLabel('API key').fill(its.key)
    expect(await send('visibility')).toMatch(/^400 Parameter brandId is missing/)
    await page.route('**/v1/visibility**', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '23' }, json: { error: 'Too many.' } }),
    )
    expect(await send('visibility')).toMatch(/^429 Too many\. .* retry after 23 s/)
    await page.route('**/v1/visibility**', (route) => route.abort())
    expect(await send('visibility')).toMatch(/^No response/)
  })

  test('sends the key in its header to this service only, and stores it nowhere', async () => {
    const { page, requests, section, useKey, send } = await open()
    await useKey(its.key)
    for (const id of ['brands', 'visibility']) await send(id)
    for (const language of ['Python', 'JavaScript', 'SQL', 'curl']) {
      await section('visibility').getByRole('tab', { name: language }).click()
      expect(await section('visibility').getByRole('tabpanel').textContent()).not.toContain(its.key)
    }
    const stores = {
      ...(await page.evaluate(async () => ({
        localStorage: JSON.stringify({ ...localStorage }),
        sessionStorage: JSON.stringify({ ...sessionStorage }),
        cookies: document.cookie,
        address: location.href,
        history: JSON.stringify(history.state),
        page: document.documentElement.outerHTML,
        databases: JSON.stringify(await indexedDB.databases()),
        caches: JSON.stringify(await caches.keys()),
      }))),
      context: JSON.stringify(await page.context().storageState()),
    }
    const secret = its.key.slice('svc_live_'.length)
    for (const [name, text] of Object.entries(stores)) expect(text, name).not.toContain(secret)
    expect([stores.databases, stores.caches]).toEqual(['[]', '[]'])
    for (const request of requests) {
      const { 'x-api-key': key, ...others } = await request.allHeaders()
      expect(key === its.key).toBe(/\/v1\/(brands|visibility)/.test(request.url()))
      expect(request.url() + JSON.stringify(others)).not.toContain(its.key)
    }
    await page.reload()
    expect(await page.getByLabel('API key').inputValue()).toBe('')
  })

  test('uses the selected brand, dates and language in the code samples of every endpoint', async () => {
    const { section, useKey } = await open()
    await useKey(its.key)
    await section('visibility').locator('[data-parameter=fromDate]').fill('2026-10-05')
    await section('visibility').locator('[data-parameter=brandId]').selectOption(its.brandId)
    await section('sentiment').getByRole('tab', { name: 'Python' }).click()
    for (const { id } of reference.endpoints.filter(isPaged)) {
      const code = await section(id).getByRole('tabpanel').textContent()
      expect(code).toContain(`"brandId": "${its.brandId}"`)
      expect(code).toContain('"fromDate": "2026-10-05"')
      expect(code).toContain(`${inject('serviceUrl')}/api/export/v1/${id}"`)
    }
  })

  test('works with the keyboard only', async () => {
    const { page, section } = await open()
    const focusedText = () => page.evaluate(() => document.activeElement?.textContent)
    await page.keyboard.press('Tab')
    expect(await focusedText()).toMatch(/^Skip/)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(its.key)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#key-state').textContent()).toMatch(/^This key can read /)

    await section('visibility').getByRole('tab', { name: 'curl' }).focus()
    const outline = await page.evaluate(
      () => document.activeElement && getComputedStyle(document.activeElement).outlineStyle,
    )
    expect(outline).toBe('solid')
    await page.keyboard.press('ArrowRight')
    expect(await focusedText()).toBe('Python')
    const selected = section('visibility').getByRole('tab', { selected: true })
    expect(await selected.textContent()).toBe('Python')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await selected.textContent()).toBe('SQL')
    await page.keyboard.press('Home')
    expect(await selected.textContent()).toBe('curl')
  })

  test.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(20, 22, 27)'],
  ] as const)('passes the accessibility checks of axe in %s mode, including contrast', async (colorScheme, background) => {
    const { page, section, useKey, send } = await open({ ...PHONE, colorScheme })
    await useKey(its.key)
    for (const id of ['visibility', 'competitors']) {
      await send(id, OCTOBER)
      await section(id).getByText('Numbers of the chart').click()
      await section(id).getByRole('slider').press('Home')
    }
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(
      background,
    )
    await page.evaluate(await readFile(axe, 'utf8'))
    const violations = await page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
    )
    expect(violations).toEqual([])
  })
})
