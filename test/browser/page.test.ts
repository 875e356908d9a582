import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { beforeAll, expect, inject } from 'vitest'
import { isDays, isMetric, isPaged } from '../../site/reference/endpoint.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { database } from '../fixtures/rows.ts'
import { browserTest } from '../fixtures/site/browser.ts'
import { reference } from '../fixtures/site/reference.ts'
import { openReferencePage, PHONE } from '../fixtures/site/reference-page.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const OCTOBER = { fromDate: '2026-10-01', toDate: '2026-10-31' }

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  const rows = { brandId: its.brandId, first: '2026-10-01' }
  for (const { id } of reference.endpoints.filter(isMetric))
    await fillDaily(db, { ...rows, name: id, rows: 5, days: 5 })
  await fillDaily(db, { ...rows, name: 'citations', rows: 1500, days: 20, from: 6 })
  await db.query(
    `insert into daily.changes
       (brand_id, endpoint, date, rows, totals, digest, bytes, causes, changed_at, first_changed_at, batch)
     select brand_id, 'citations', date, count(*), '{}', '000000000000000', 9000, '{}',
       '2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000001Z', 1
     from daily.citations where brand_id = $1 group by brand_id, date`,
    [its.brandId],
  )
})
browserTest('sends a request to every endpoint, and fits every screen width', async () => {
  const { page, messages, section, useKey, send, follow } = await openReferencePage(PHONE)
  await follow('#visibility-try')
  const bottomOfSend = () =>
    section('visibility')
      .getByRole('button', { name: 'Send' })
      .evaluate((button) => button.getBoundingClientRect().bottom)
  await expect.poll(bottomOfSend).toBeLessThan(844)
  await useKey(its.key)
  for (const endpoint of reference.endpoints) {
    const { id, fields } = endpoint
    const { toDate, ...first } = OCTOBER
    const query = isDays(endpoint) ? first : { ...first, toDate }
    expect(await send(id, isPaged(endpoint) ? query : {}), id).toMatch(/^200 /)
    const rows = section(id)
      .locator('.response details')
      .filter({ hasText: /^(Rows|First 100 of)/ })
    const table = rows.getByRole('table')
    if (!(await table.isVisible())) await rows.locator('summary').click()
    await table.waitFor()
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(fields.map(({ name }) => name))
    expect(await table.getByRole('row').count()).toBeGreaterThan(1)
  }
  for (const width of [390, 320, 768, 1400]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width)
    // The header does not cover what a link leads to.
    await follow(`#citations?${width}`)
    const isShown = section('citations').evaluate((element) => {
      const { x, y } = element.querySelector('h2')?.getBoundingClientRect() ?? new DOMRect()
      return document.elementFromPoint(x + 9, y + 9)?.closest('h2') !== null
    })
    expect(await isShown, `at ${width}`).toBe(true)
  }
  // A phone begins with closed lists. A link opens the one that it leads into.
  const field = page.locator('[id="brands.name"]')
  expect(await field.isVisible()).toBe(false)
  await follow('#brands.name')
  await expect.poll(() => field.isVisible()).toBe(true)
  expect(messages).toEqual([])
})

browserTest('follows pages to the last one', async () => {
  const { page, section, field, status, useKey, send } = await openReferencePage()
  await useKey(its.key)
  expect(await send('citations', OCTOBER)).toMatch(/^200 1,000 rows on this page/)
  const next = section('citations').getByRole('button', { name: 'Next page' })
  await next.click()
  await expect.poll(() => status('citations').textContent()).toMatch(/^200 505 rows · /)
  expect(await next.isVisible()).toBe(false)
  // The focus does not go with the button, and Send begins again.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Send')
  expect(await field('citations', 'cursor').inputValue()).toBe('')
  expect(await send('citations')).toMatch(/^200 1,000 rows on this page/)
  // Other dates have other pages.
  await field('citations', 'fromDate').fill('2026-10-02')
  expect(await next.isVisible()).toBe(false)
})

browserTest('draws all rows of the window, waits for the rate limit, and can be canceled', async () => {
  const { page, section, status, useKey, send } = await openReferencePage()
  await useKey(its.key)
  let left = 1
  const file = '**/v1/citations**format=ndjson**'
  await page.route(file, (route) => {
    left -= 1
    const headers = { 'Retry-After': '1' }
    return left < 0 ? route.continue() : route.fulfill({ status: 429, headers, json: { error: 'Wait.' } })
  })
  const progress = section('citations').locator('[data-progress]')
  await progress.evaluate((element) => {
    const note = () =>
      element.setAttribute('data-seen', `${element.getAttribute('data-seen')}|${element.textContent}`)
    new MutationObserver(note).observe(element, { childList: true })
  })
  await send('citations', OCTOBER)
  const tables = section('citations').locator('.cited')
  await tables.first().waitFor()
  expect(await progress.getAttribute('data-seen')).toMatch(
    /^null\|Waiting 1 s for the rate limit\.\|.*Drawing: 1,505 of 1,505 rows\./,
  )

  left = 1000
  await section('citations').getByRole('button', { name: 'Send' }).click()
  const next = section('citations').getByRole('button', { name: 'Next page' })
  await expect.poll(() => next.getAttribute('aria-disabled')).toBe('true')
  await expect.poll(() => progress.textContent()).toMatch(/^Waiting/)
  await section('citations').getByRole('button', { name: 'Cancel' }).click()
  await expect
    .poll(() => status('citations').textContent())
    .toMatch(/ Canceled: a chart needs all rows of the window\.$/)
  expect(await next.getAttribute('aria-disabled')).toBe(null)
  expect(await tables.count()).toBe(0)

  // Rows that are missing draw nothing.
  await page.unroute(file)
  await page.route(file, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(/^.*\n/, '') })
  })
  await send('citations')
  await expect
    .poll(() => status('citations').textContent())
    .toMatch(/^200 .* Rows are missing, or changed meanwhile\./)
  expect(await tables.count()).toBe(0)
})

browserTest('shows the rows when the file of the chart is missing', async () => {
  const { page, section, status, useKey, send } = await openReferencePage()
  await page.route('**/docs/*.js', async (route) => {
    const response = await route.fetch()
    await ((await response.text()).includes('uplot') ? route.abort() : route.fulfill({ response }))
  })
  await useKey(its.key)
  const missing = 'This part did not load. Reload the page.'
  await expect.poll(() => page.locator('#own-state').textContent()).toBe(missing)
  await send('sentiment', OCTOBER)
  await expect
    .poll(() => status('sentiment').textContent())
    .toMatch(/^200 5 rows .* This part did not load\. Reload the page\.$/)
  expect(await section('sentiment').locator('.response').textContent()).toMatch(/^Rows/)
})

browserTest('finds endpoints, fields, parameters, errors and guides', async () => {
  const { page } = await openReferencePage()
  await page.keyboard.press('/')
  await page.keyboard.type('visible count')
  const found = page.locator('#found a')
  expect(await found.first().getAttribute('href')).toBe('#visibility.visible_count')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).hash).toBe('#visibility.visible_count')
  expect(await found.first().isVisible()).toBe(false)
  const current = page.locator('nav [aria-current]')
  await expect.poll(() => current.allTextContents()).toEqual(['/visibility'])
  await page.keyboard.press('Control+k')
  await page.keyboard.type('rate limit')
  expect(await found.first().textContent()).toMatch(/^Limits… Rate limit: \d+ requests/)
  await page.keyboard.press('Escape')
  for (const [words, href] of [
    ['fromdate', '#parameters.fromDate'],
    ['429', '#errors.429'],
    ['paging', '#paging'],
    ['next page', '#paging'],
    ['etag', '#response-headers.ETag'],
    ['changes', '#changes'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(words)
    expect(await found.evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toContain(href)
    await page.keyboard.press('Escape')
  }
  await page.keyboard.type('zebra crossing')
  expect(await page.locator('#found').textContent()).toBe('Nothing found.')
  await page.locator('#key-input').focus()
  expect(await page.locator('#found').isVisible()).toBe(false)
})

browserTest.each([
  ['without JavaScript', { javaScriptEnabled: false }],
  ['in print', PHONE],
] as const)('shows only what works %s', async (name, options) => {
  const { page } = await openReferencePage(options)
  if (name === 'in print') await page.emulateMedia({ media: 'print' })
  for (const control of await page.locator('button, input, select, form, search').all())
    expect(await control.isVisible()).toBe(false)
  expect(await page.getByText('Example response').first().isVisible()).toBe(true)
  for (const content of await page.locator('#visibility :is(pre, .fields)').all())
    expect(await content.isVisible()).toBe(true)
})

browserTest('says what is wrong with a key, a parameter, a window, the rate and the connection', async () => {
  const { page, section, useKey, send } = await openReferencePage()
  expect(await useKey('svc_live_wrong')).toBe('This key is not valid.')
  const key = page.getByLabel('API key')
  expect(await key.getAttribute('aria-invalid')).toBe('true')
  expect(await page.locator('#key-state.error').count()).toBe(1)
  expect(await send('visibility')).toMatch(/^401 API key missing or invalid/)
  await key.fill(its.key)
  expect(await send('visibility')).toMatch(/^400 Parameter brandId is missing/)
  await useKey(its.key)
  expect(await send('sentiment', { fromDate: '2026-09-01', toDate: '2026-09-02' })).toMatch(
    /^200 0 rows · .* The first row within your plan is of 2026-10-01\.$/,
  )
  await page.route('**/v1/visibility**', (route) =>
    route.fulfill({ status: 429, headers: { 'Retry-After': '23' }, json: { error: 'Too many.' } }),
  )
  expect(await send('visibility')).toMatch(/^429 Too many\. .* retry after 23 s/)
  const error = `${its.key} ${its.key.toUpperCase()} `.padEnd(970, '.') + its.key.repeat(5000)
  await page.route('**/v1/visibility**', (route) =>
    route.fulfill({ status: 400, headers: { 'X-Request-Id': its.key }, json: { error } }),
  )
  expect(await send('visibility')).toMatch(/^400 <API key> <API key> \.+(<API key>)+<?[\w ]{0,8} · /)
  const response = section('visibility').locator('.response')
  await response.getByText('Headers').click()
  const shown = (await response.textContent()) ?? ''
  expect(shown).toContain('x-request-id: <API key>')
  expect(shown).not.toMatch(/svc_live_/i)
  expect(shown.length).toBeLessThan(1500)
  await page.route('**/v1/visibility**', (route) => route.abort())
  expect(await send('visibility')).toMatch(/^No response/)
})

browserTest(
  'shows nothing of a key that is no longer used, nor of one whose response came late',
  async () => {
    const { page, section, useKey } = await openReferencePage()
    await useKey(its.key)
    const figures = page.locator('#own-brand')
    await figures.locator('section').waitFor()
    await section('sentiment').scrollIntoViewIfNeeded()
    await useKey('svc_live_wrong')
    expect(await figures.textContent()).toBe('')
    const late = Promise.withResolvers<void>()
    await page.route('**/v1/brands', async (route) => {
      if ((await route.request().headerValue('X-API-Key')) === its.key) await late.promise
      await route.continue().catch(() => undefined)
    })
    await page.getByLabel('API key').fill(its.key)
    await page.getByRole('button', { name: 'Use key' }).click()
    expect(await useKey('svc_live_wrong')).toMatch(/^This key is not valid/)
    late.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    expect(await page.locator('#key-state').textContent()).toMatch(/^This key is not valid/)
    expect(await page.locator('#own').isVisible()).toBe(false)
  },
)

browserTest('sends the key in its header to this service only, and stores it nowhere', async () => {
  const { page, requests, section, useKey, send } = await openReferencePage()
  await useKey(its.key)
  for (const id of ['brands', 'visibility']) await send(id)
  await section('visibility').locator('.samples').scrollIntoViewIfNeeded()
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
  expect(new Set(requests.map((request) => new URL(request.url()).origin))).toEqual(
    new Set([inject('serviceUrl')]),
  )
  for (const request of requests) {
    const { 'x-api-key': key, ...others } = await request.allHeaders()
    expect(key === its.key).toBe(!/\/v1\/docs/.test(request.url()))
    expect(request.url() + JSON.stringify(others)).not.toContain(its.key)
  }
  await page.reload()
  expect(await page.getByLabel('API key').inputValue()).toBe('')
})

browserTest('uses the selected brand, dates and language in the code samples of every endpoint', async () => {
  const { section, field, useKey } = await openReferencePage()
  await useKey(its.key)
  await field('visibility', 'fromDate').fill('2026-10-05')
  await field('visibility', 'brandId').selectOption(its.brandId)
  await section('sentiment').locator('.samples').scrollIntoViewIfNeeded()
  await section('sentiment').getByRole('tab', { name: 'Python' }).click()
  for (const { id } of reference.endpoints.filter(isPaged)) {
    const code = await section(id).getByRole('tabpanel').textContent()
    expect(code).toContain(`"brandId": "${its.brandId}"`)
    expect(code).toContain('"fromDate": "2026-10-05"')
    expect(code).toContain(`${inject('serviceUrl')}/api/export/v1/${id}"`)
  }
})

browserTest('works with the keyboard only', async () => {
  const { page, section } = await openReferencePage()
  const focusedText = () => page.evaluate(() => document.activeElement?.textContent)
  await page.keyboard.press('Tab')
  expect(await focusedText()).toMatch(/^Skip/)
  for (const _ of ['title', 'search', 'key']) await page.keyboard.press('Tab')
  await page.keyboard.type(its.key)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('#key-state').textContent()).toMatch(/^This key can read /)

  await section('visibility').locator('.samples').scrollIntoViewIfNeeded()
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

browserTest.each([
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(20, 22, 27)'],
] as const)(
  'passes the accessibility checks of axe in %s mode, including contrast',
  async (colorScheme, background) => {
    const { page, section, useKey, send } = await openReferencePage({ ...PHONE, colorScheme })
    await useKey(its.key)
    for (const id of ['visibility', 'competitors']) {
      await send(id, OCTOBER)
      await section(id).getByText('Table').click()
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
  },
)
