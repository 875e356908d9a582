import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { ERRORS, PARAMETER_ERRORS } from '../../../lib/errors.ts'
import { isPaged } from '../../../site/reference.ts'
import { hasBrowser, startBrowser } from '../../support/browser.ts'
import { fillDaily } from '../../support/daily.ts'
import { reference } from '../../support/reference.ts'
import { type Tenant, tenant } from '../../support/tenant.ts'
import { database } from '../../support/world.ts'

const db = database()
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const DESKTOP = { viewport: { width: 1400, height: 900 } }
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

describe.skipIf(!hasBrowser)('in a browser (skipped where there is no chromium)', () => {
  let browser: Browser
  let its: Tenant
  let page: Page
  let requests: Request[] = []
  let messages: string[] = []

  beforeAll(async () => {
    browser = await startBrowser()
    its = await tenant(db)
    const rows = { brandId: its.brandId, first: '2026-10-01' }
    for (const { id } of reference.endpoints.filter(isPaged))
      await fillDaily(db, { ...rows, name: id, rows: 5, days: 5 })
  })

  afterAll(() => browser?.close())

  async function open(options: BrowserContextOptions = DESKTOP): Promise<void> {
    requests = []
    messages = []
    // A budget of its own.
    const context = await browser.newContext({
      ...options,
      reducedMotion: 'reduce',
      userAgent: `Tests ${randomUUID()}`,
    })
    page = await context.newPage()
    page.on('request', (request) => requests.push(request))
    page.on('console', (message) => messages.push(message.text()))
    page.on('pageerror', ({ message }) => messages.push(message))
    await page.goto(`${inject('serviceUrl')}/api/export/v1/docs`)
  }

  afterEach(async () => {
    const hosts = new Set(requests.map((request) => new URL(request.url()).origin))
    expect([...hosts]).toEqual([inject('serviceUrl')])
    await page.context().close()
  })

  const useKey = async (key: string) => {
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Use key' }).click()
  }

  const section = (id: string) => page.locator(`section#${id}`)

  async function send(id: string, fields: Record<string, string> = {}): Promise<string> {
    for (const [name, value] of Object.entries(fields))
      await section(id).locator(`[data-parameter="${name}"]`).fill(value)
    const answered = page.waitForResponse((response) => response.url().includes(`/v1/${id}`))
    await section(id).getByRole('button', { name: 'Send' }).click()
    await answered
    const summary = section(id).locator('[data-summary]')
    await expect.poll(() => summary.textContent()).toMatch(/ ms/)
    return (await summary.textContent()) ?? ''
  }

  const window = { fromDate: '2026-10-01', toDate: '2026-10-31' }

  test('loads its own files and nothing else, without a console message', async () => {
    await open()
    await page.waitForLoadState('networkidle')
    const paths = () =>
      requests.map((request) => new URL(request.url()).pathname.replace(/[0-9a-f]{16}/, '…')).sort()
    // The browser requests the icon when it is idle.
    await expect
      .poll(paths, { timeout: 15_000 })
      .toEqual(['', '/….css', '/….js', '/….svg'].map((name) => `/api/export/v1/docs${name}`))
    expect(messages).toEqual([])
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(
      expect.arrayContaining(reference.endpoints.map(({ summary }) => summary)),
    )
  })

  test('sends a request to every endpoint with a key, shows its rows, and is nowhere wider than the screen', async () => {
    await open(PHONE)
    await useKey(its.key)
    await expect.poll(() => page.locator('#key-state').textContent()).toMatch(/^Reads /)
    for (const { id, fields, parameters } of reference.endpoints) {
      expect(await send(id, parameters.length === 0 ? {} : window), id).toMatch(/^200 /)
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

  test('shows the error of a wrong key, a missing parameter and too many requests', async () => {
    await open()
    await useKey('svc_live_wrong')
    await expect.poll(() => page.locator('#key-state').textContent()).toBe(`401: ${ERRORS.key[1]}`)
    expect(await send('visibility')).toContain(`401 ${ERRORS.key[1]}`)
    await page.getByLabel('Key', { exact: true }).fill(its.key)
    expect(await send('visibility')).toContain(`400 ${PARAMETER_ERRORS.missing('brandId')}`)
    await page.route('**/v1/visibility**', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '23' }, json: { error: 'Too many.' } }),
    )
    expect(await send('visibility')).toMatch(/^429 Too many\. .* wait 23 s/)
    await page.route('**/v1/visibility**', (route) => route.abort())
    await section('visibility').getByRole('button', { name: 'Send' }).click()
    await expect
      .poll(() => section('visibility').locator('[data-summary]').textContent())
      .toMatch(/^Nothing came back/)
  })

  test('keeps the key to itself: in its header to this service, and nowhere else', async () => {
    await open()
    await useKey(its.key)
    await expect.poll(() => page.locator('#key-state').textContent()).toMatch(/^Reads /)
    for (const id of ['brands', 'visibility']) await send(id)
    for (const language of ['Python', 'TypeScript', 'SQL', 'curl']) {
      await section('visibility').getByRole('tab', { name: language }).click()
      expect(await section('visibility').getByRole('tabpanel').textContent()).not.toContain(its.key)
    }
    const places = {
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
    expect(Object.entries(places).flatMap(([name, text]) => (text.includes(secret) ? [name] : []))).toEqual(
      [],
    )
    expect([places.databases, places.caches]).toEqual(['[]', '[]'])
    expect(requests.filter((request) => request.url().includes(its.key))).toEqual([])
    for (const request of requests) {
      const { 'x-api-key': key, ...others } = await request.allHeaders()
      expect(key === its.key).toBe(/\/v1\/(brands|visibility)/.test(request.url()))
      expect(JSON.stringify(others)).not.toContain(its.key)
    }
    await page.reload()
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('')
  })

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    test('passes the checks of axe, contrast among them', async () => {
      await open({ ...PHONE, colorScheme })
      await useKey(its.key)
      await expect.poll(() => page.locator('#key-state').textContent()).toMatch(/^Reads /)
      await send('competitors', window)
      const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
      expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 22, 27)')
      await page.evaluate(await readFile(axe, 'utf8'))
      const found: { id: string; nodes: string[] }[] = await page.evaluate(
        `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
      )
      expect(found).toEqual([])
    })
  })
})
