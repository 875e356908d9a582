import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, startBrowser } from '../../fixtures/site/browser.ts'
import { openReferencePage, type ReferencePage } from '../../fixtures/site/reference-page.ts'

/** Seven competitors; the first is mentioned in 70 of 100 answers a day, the last in 10. */
const COMPETITORS = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((name, index) => ({
  competitor_name: name,
  total_responses: 100,
  competitor_visible_responses: 70 - 10 * index,
}))

const rowsOf = (date: string) => COMPETITORS.map((row) => ({ date, ...row }))

/** Two pages. The first ends within 2026-10-05, and 2026-10-03 has no rows. */
const PAGES: Readonly<Record<string, object>> = {
  '': {
    data: [
      ...['2026-10-01', '2026-10-02', '2026-10-04'].flatMap(rowsOf),
      ...rowsOf('2026-10-05').slice(0, 2),
    ],
    pagination: { nextCursor: 'c1' },
  },
  c1: {
    data: [
      ...rowsOf('2026-10-05').slice(2),
      { date: '2026-10-06', competitor_name: 'A', total_responses: 100, competitor_visible_responses: 100 },
    ],
    pagination: { nextCursor: null },
  },
}

describe.skipIf(!hasBrowser)('in a browser (skipped without Chromium)', () => {
  let browser: Browser
  let opened: ReferencePage

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())
  afterEach(() => opened.close())

  async function open(options?: BrowserContextOptions): Promise<ReferencePage> {
    opened = await openReferencePage(browser, options)
    await opened.page.route('**/v1/competitors**', (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? ''
      return route.fulfill({ json: PAGES[cursor] })
    })
    return opened
  }

  test('draws a line for each competitor over the complete days of the loaded pages', async () => {
    const { messages, section, send } = await open()
    const chart = section('competitors').locator('.chart')
    const caption = () => chart.locator('figcaption').textContent()
    const legend = async () => [
      await chart.locator('dt').allTextContents(),
      await chart.locator('dd').allTextContents(),
    ]
    await send('competitors')
    expect(await caption()).toBe(
      'Competitor visibility by day 2026-10-01 to 2026-10-04. Rows of 2026-10-05 can continue on the next page.',
    )
    expect(await legend()).toEqual([
      ['A', 'B', 'C', 'D', 'E', 'Others (2)'],
      ['70.00 %', '60.00 %', '50.00 %', '40.00 %', '30.00 %', '10.0–20.0 %'],
    ])
    expect(await chart.locator('path').count()).toBe(7)
    expect(await chart.locator('path.line-other').count()).toBe(2)

    await section('competitors').getByRole('button', { name: 'Next page' }).click()
    await expect.poll(caption).toBe('Competitor visibility by day 2026-10-01 to 2026-10-06. ')
    expect((await legend())[1]?.[0]).toBe('76.00 %')
    expect(messages).toEqual([])
  })

  test('leaves a gap on a day without rows, and shows all numbers in a table', async () => {
    const { section, send } = await open()
    await send('competitors')
    const chart = section('competitors').locator('.chart')
    const path = (await chart.locator('path.line-1').getAttribute('d')) ?? ''
    expect(path.replace(/[\d.,]+/g, '')).toBe('MLM')
    await chart.getByText('Numbers of the chart').click()
    const numbers = await chart.getByRole('row').allTextContents()
    expect(numbers).toHaveLength(6)
    expect(numbers[1]).toMatch(/^All days70\.00 %60\.00 %.*10\.00 %$/)
    expect(numbers[4]).toBe(`2026-10-03${'no value'.repeat(7)}`)
  })

  test('reads a day with the keyboard, and the line near the pointer', async () => {
    const { page, section, send } = await open()
    await send('competitors')
    const slider = section('competitors').getByRole('slider')
    const text = () => slider.getAttribute('aria-valuetext')
    await slider.press('ArrowLeft')
    expect(await text()).toMatch(/^2026-10-04: A 70\.00 %, B 60\.00 %/)
    await slider.press('ArrowLeft')
    expect(await text()).toMatch(/^2026-10-03: A no value/)
    await slider.press('Home')
    await slider.press('ArrowLeft')
    expect(await text()).toMatch(/^2026-10-01: /)
    await slider.press('Escape')
    expect(await text()).toMatch(/^All days: /)

    const muted = section('competitors').locator('path.line-other')
    const box = await muted.first().boundingBox()
    if (box === null) throw new Error('The muted line is not visible')
    await page.mouse.move(box.x, box.y)
    expect(await text()).toMatch(/^2026-10-01: .*, [FG] [12]0\.00 %$/)
    await page.mouse.move(0, 0)
    expect(await text()).toMatch(/^All days: /)
  })

  test('switches lines off and on with the entries of the legend', async () => {
    const { page, section, send } = await open()
    await send('competitors')
    const chart = section('competitors').locator('.chart')
    const first = chart.getByRole('button', { name: 'A', exact: true })
    const others = chart.getByRole('button', { name: 'Others (2)' })
    const drawn = (name: string) => chart.locator(`path.${name}[d^=M]`).count()
    const state = async () => [
      await first.getAttribute('aria-pressed'),
      await drawn('line-1'),
      await drawn('line-other'),
    ]
    await expect.poll(state).toEqual(['true', 1, 2])
    await first.focus()
    await page.keyboard.press('Space')
    await others.click()
    expect(await state()).toEqual(['false', 0, 0])
    const slider = section('competitors').getByRole('slider')
    expect(await slider.getAttribute('aria-valuetext')).toBe(
      'All days: B 60.00 %, C 50.00 %, D 40.00 %, E 30.00 %',
    )
    await section('competitors').getByRole('button', { name: 'Next page' }).click()
    await expect.poll(() => chart.locator('figcaption').textContent()).toMatch(/2026-10-06/)
    await expect.poll(() => drawn('line-2')).toBe(1)
    expect(await state()).toEqual(['false', 0, 0])

    // The only entry of a legend has no button, unless it is off.
    await page.route('**/v1/competitors**', (route) => {
      const data = ['2026-10-01', '2026-10-02'].flatMap((date) => rowsOf(date).slice(0, 1))
      return route.fulfill({ json: { data, pagination: { nextCursor: null } } })
    })
    await send('competitors')
    await expect.poll(() => chart.locator('dt').count()).toBe(1)
    await first.click()
    expect(await state()).toEqual(['true', 1, 0])
  })

  test('draws no day of which only a part is loaded', async () => {
    const { page, section, send } = await open()
    await page.route('**/v1/sentiment**', (route) =>
      route.fulfill({ json: { data: [{ date: '2026-10-01' }], pagination: { nextCursor: 'c1' } } }),
    )
    await send('sentiment')
    expect(await section('sentiment').locator('.chart').textContent()).toBe(
      'Sentiment by day No day is complete. Rows of 2026-10-01 can continue on the next page.',
    )
  })

  test('fits the width of the window', async () => {
    const { page, section, send } = await open()
    await send('competitors')
    const chart = section('competitors').locator('.plot')
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      await expect
        .poll(() =>
          chart.evaluate((plot) => plot.clientWidth - (plot.querySelector('svg')?.clientWidth ?? 0)),
        )
        .toBe(0)
    }
  })
})
