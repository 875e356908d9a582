import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { browserTest } from '../fixtures/site/browser.ts'
import { openReferencePage } from '../fixtures/site/reference-page.ts'

/** Nine competitors; the first is mentioned in 90 of 100 answers a day, the last in 10. */
const COMPETITORS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I'].map((name, index) => ({
  competitor_name: name,
  total_responses: 100,
  competitor_visible_responses: 90 - 10 * index,
}))

const rowsOf = (date: string) => COMPETITORS.map((row) => ({ date, ...row }))

/** 2026-10-03 has no rows, and 2026-10-06 has one. */
const ROWS = [
  ...['2026-10-01', '2026-10-02', '2026-10-04', '2026-10-05'].flatMap(rowsOf),
  { date: '2026-10-06', competitor_name: 'A', total_responses: 100, competitor_visible_responses: 100 },
]

/** Rows of models and markets: `a` is mentioned in 1 of 4 answers, `b` in 3 of 4. */
const MODELS = ['2026-10-01', '2026-10-02'].flatMap((date) => [
  { date, model_id: 'a', market: 'US', total_prompts: 40, visible_count: 10 },
  { date, model_id: 'b', market: 'UK', total_prompts: 40, visible_count: 30 },
])

/** Sends a request whose first page has one row, and returns the chart of all rows. */
async function open(id = 'competitors', fragment = '') {
  const opened = await openReferencePage(undefined, `${inject('serviceUrl')}/api/export/v1/docs${fragment}`)
  const { page, section, send } = opened
  for (const [name, rows] of Object.entries({ competitors: ROWS, visibility: MODELS }))
    await page.route(`**/v1/${name}**`, (route) =>
      route.request().url().includes('format=ndjson')
        ? route.fulfill({
            body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
            headers: { 'X-Expected-Rows': String(rows.length) },
          })
        : route.fulfill({
            json: { data: rows.slice(0, 1), pagination: { hasMore: true, nextCursor: 'c1' } },
          }),
    )
  await send(id)
  const chart = section(id).locator('.chart')
  const slider = chart.getByRole('slider')
  const text = () => slider.getAttribute('aria-valuetext')
  const legend = async () =>
    Promise.all((await chart.locator('.legend tr').all()).map((row) => row.allInnerTexts()))
  await slider.locator('canvas').waitFor()
  return { ...opened, chart, slider, text, legend, caption: () => chart.locator('figcaption').innerText() }
}

const saved = async (page: Page, button: Locator) => {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) }
}

browserTest('draws a line for the brand and each competitor over all rows of the window', async () => {
  const { messages, chart, legend, caption } = await open()
  expect(await caption()).toBe('Competitor visibility by day 2026-10-01 to 2026-10-06.')
  const figures = COMPETITORS.slice(1).map(
    (row) => `${row.competitor_name} ${row.competitor_visible_responses}.00 % n 400`,
  )
  expect((await legend()).flat().map((entry) => entry.replace(/\s+/g, ' ').trim())).toEqual([
    ...['All days', 'Brand 50.00 % n 160', 'A 92.00 % n 500'],
    ...figures,
  ])
  // The brand and eight competitors have a colour of their own.
  expect(await chart.locator('.legend tr.line-0').innerText()).toContain('Brand')
  expect(await chart.locator('.legend tr.line-other').innerText()).toContain('I')
  const colors = await chart
    .locator('.legend .u-marker')
    .evaluateAll((markers) => markers.map((marker) => getComputedStyle(marker).color))
  expect(new Set(colors.slice(1)).size).toBe(10)
  expect(messages).toEqual([])
})

browserTest('reads a day with the keyboard and with the pointer', async () => {
  const { page, chart, slider, text } = await open()
  await slider.press('ArrowLeft')
  expect(await text()).toMatch(/^2026-10-06: Brand no value, A 100\.00 %, B no value/)
  await slider.press('ArrowLeft')
  expect(await text()).toMatch(/^2026-10-05: Brand no value, A 90\.00 %, B 80\.00 %/)
  const readout = chart.locator('.readout')
  expect(await readout.innerText()).toMatch(/^2026-10-05\s+.*A\s+90\.00 %\s+n 100\s+B\s+80\.00 %/s)
  await slider.press('Home')
  await slider.press('ArrowLeft')
  expect(await text()).toMatch(/^2026-10-01: /)
  await slider.press('PageUp')
  expect(await text()).toMatch(/^2026-10-06: /)
  await slider.press('Escape')
  expect(await text()).toMatch(/^All days: /)
  expect(await readout.isVisible()).toBe(false)
  const over = chart.locator('.u-over')
  await over.hover({ position: { x: 2, y: 2 } })
  await expect.poll(text).toMatch(/^2026-10-01: /)
  await page.mouse.move(0, 0)
  await expect.poll(text).toMatch(/^All days: /)
})

browserTest('switches lines off and on, and isolates one, with the entries of the legend', async () => {
  const { page, section, chart, text } = await open()
  await chart.getByRole('button', { name: 'Brand', exact: true }).click()
  const entry = (name: string) => chart.getByRole('button', { name, exact: true })
  await entry('A').focus()
  await page.keyboard.press('Space')
  expect(await entry('A').getAttribute('aria-pressed')).toBe('false')
  expect(await text()).toMatch(/^All days: B 80\.00 %/)
  expect(await chart.locator('.legend tr.u-off').last().innerText()).toMatch(/A\s+off/)
  // The next chart keeps it, and so does the address.
  await chart.evaluate((element) => element.setAttribute('data-previous', ''))
  await section('competitors').getByRole('button', { name: 'Send' }).click()
  await section('competitors').locator('.chart:not([data-previous])').waitFor()
  expect(new URL(page.url()).hash).toBe('#competitors-try?off=Brand&off=A')
  await expect.poll(text).toMatch(/^All days: B 80\.00 %/)
  await entry('A').click()
  expect(await text()).toMatch(/^All days: A 92\.00 %/)
  await entry('C').dblclick()
  expect(await text()).toBe('All days: C 70.00 %')
  await entry('C').dblclick()
  expect(await text()).toMatch(/^All days: Brand 50\.00 %, A 92\.00 %, B/)
})

browserTest('computes the figures of the days that a drag zooms to, and saves them', async () => {
  const { page, chart, text } = await open()
  await chart.getByRole('button', { name: 'Brand', exact: true }).click()
  const over = chart.locator('.u-over')
  await over.waitFor()
  await over.scrollIntoViewIfNeeded()
  const box = await over.boundingBox()
  if (box === null) throw new Error('The plot is not visible')
  await page.mouse.move(box.x + box.width * 0.7, box.y + 50)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width + 9, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await page.mouse.move(0, 0)
  // Of 2026-10-05 and 2026-10-06.
  await expect.poll(text).toMatch(/^2026-10-05 to 2026-10-06: A 95\.00 %, B 80\.00 %/)
  // The next chart keeps them.
  await chart.getByLabel('Points').selectOption('Days')
  await expect.poll(text).toMatch(/^2026-10-05 to 2026-10-06: A 95\.00 %, B 80\.00 %/)
  for (const name of ['B', 'D', 'E', 'F', 'G', 'H', 'I'])
    await chart.getByRole('button', { name, exact: true }).click()
  const csv = await saved(page, chart.getByRole('button', { name: 'CSV' }))
  expect(csv.name).toBe('Brand Competitor visibility, 2026-10-05 to 2026-10-06.csv')
  expect(csv.content.toString()).toBe(
    'first_day,last_day,A,C\r\n2026-10-05,2026-10-05,90.0000,70.0000\r\n2026-10-06,2026-10-06,100.0000,\r\n',
  )
  const png = await saved(page, chart.getByRole('button', { name: 'PNG' }))
  expect(png.name).toBe('Brand Competitor visibility, 2026-10-05 to 2026-10-06.png')
  expect(png.content.subarray(1, 4).toString()).toBe('PNG')
  // As wide on each screen.
  expect(png.content.readUInt32BE(16)).toBe(1600)
  await chart.getByRole('slider').press('Escape')
  await expect.poll(text).toMatch(/^All days: A 92\.00 %/)
})

browserTest('switches between models, markets, the total and weeks, and keeps the focus', async () => {
  const { page, chart, text, caption } = await open('visibility')
  expect(await text()).toBe('All days: Total 50.00 %, b 75.00 %, a 25.00 %')
  const lines = chart.getByLabel('Lines')
  await lines.focus()
  await lines.selectOption('Markets')
  await expect.poll(text).toBe('All days: Total 50.00 %, UK 75.00 %, US 25.00 %')
  expect(await lines.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(new URL(page.url()).hash).toBe('#visibility-try?lines=Markets')
  await lines.selectOption('Total')
  await expect.poll(text).toBe('All days: Total 50.00 %')
  await chart.getByLabel('Points').selectOption('Weeks')
  expect(await caption()).toMatch(
    /^Visibility by week 2026-10-01 to 2026-10-02\. A point is an ISO week; dashed: a week with fewer days\./,
  )
})

browserTest('opens the chart of an address: its points, hidden lines and zoom', async () => {
  const view = 'points=day&zoom=2026-10-04%2F2026-10-05&off=Brand&off=B'
  const { page, text, section } = await open('competitors', `#competitors-try?${view}`)
  expect(await text()).toMatch(/^2026-10-04 to 2026-10-05: A 90\.00 %, C 70\.00 %/)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await section('competitors').getByRole('button', { name: 'Copy link' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  const parameters = (query: string) => [...new URLSearchParams(query)].sort()
  expect(parameters(new URL(page.url()).hash.replace(/.*\?/, ''))).toEqual(parameters(view))
})
