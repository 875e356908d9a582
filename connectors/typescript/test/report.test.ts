import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Row } from '../../../lib/share/parquet.ts'
import { browserTest, startBrowser } from '../../../test/fixtures/site/browser.ts'
import { PHONE } from '../../../test/fixtures/site/reference-page.ts'
import { brandsActions } from '../cli/brands.ts'
import { openCopy } from '../cli/copy.ts'
import type { Action } from '../cli/delta/log.ts'
import { commit, type Table } from '../cli/delta/table.ts'
import { writeFiles } from '../cli/files.ts'
import { folderStore } from '../cli/folder-store.ts'
import { readReport } from '../cli/report/read-report.ts'
import { WHOLE } from '../cli/scope.ts'
import { exportApi, filesIn } from './copy-command.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const BRAND = 'e1d541ac-9bd5-39f4-b2f2-a1d0dbb73990'
const OTHER = '01d541ac-9bd5-39f4-b2f2-a1d0dbb73990'
const SINCE = '2026-11-02T10:31:44.123456Z'
const HOSTILE = '</script><img src=x onerror=alert(1)>'

const visible = (date: string, model_id: string, total_prompts: number, visible_count: number) => ({
  ...{ date, model_id, market: model_id === 'a' ? 'US' : 'UK' },
  ...{ total_prompts, visible_count },
})

const [ACME, LATE] = [{ domain: 'acme.example' }, { domain: 'late.example' }]

/** The rows of each month, without the columns that the report does not read. */
const FILES: Readonly<Record<string, readonly Row[]>> = {
  'visibility/2026-10': [
    visible('2026-10-01', 'a', 40, 10),
    visible('2026-10-01', 'b', 40, 30),
    visible('2026-10-20', 'a', 100, 20),
    visible('2026-10-20', 'b', 100, 40),
  ],
  'visibility/2026-11': [visible('2026-11-01', 'a', 100, 50), visible('2026-11-01', 'b', 100, 70)],
  'competitors/2026-10': [
    { date: '2026-10-01', competitor_name: HOSTILE, total_responses: 80, competitor_visible_responses: 40 },
    { date: '2026-10-20', competitor_name: 'Low', total_responses: 200, competitor_visible_responses: 80 },
  ],
  'competitors/2026-11': [
    { date: '2026-11-01', competitor_name: 'Low', total_responses: 200, competitor_visible_responses: 90 },
    { date: '2026-11-01', competitor_name: HOSTILE, total_responses: 200, competitor_visible_responses: 10 },
  ],
  'citation-share/2026-10': [
    { date: '2026-10-01', url: 'https://a.example/1', domain: null, citations: 3, owned_citations: 0 },
    { date: '2026-10-01', url: HOSTILE, domain: HOSTILE, citations: 2, owned_citations: 0 },
    { date: '2026-10-02', url: 'https://acme.example/b', ...ACME, citations: 1, owned_citations: 1 },
  ],
  'citation-share/2026-11': [
    { date: '2026-11-01', url: 'https://late.example/', ...LATE, citations: 6, owned_citations: 0 },
    { date: '2026-11-01', url: 'https://acme.example/a', ...ACME, citations: 2, owned_citations: 1 },
  ],
  'sentiment/2026-10': [
    { date: '2026-10-01', positive_weight: 1.5, negative_weight: 0.5 },
    { date: '2026-10-20', positive_weight: 9, negative_weight: 3 },
  ],
  'sentiment/2026-11': [{ date: '2026-11-01', positive_weight: 6, negative_weight: 6 }],
  'recommended-rate/2026-10': [
    { date: '2026-10-31', entity_name: 'Acme', is_brand: true, recommended_rate: 100, judged_answers: 1 },
    { date: '2026-10-31', entity_name: 'Rival', recommended_rate: 100, judged_answers: 3 },
  ],
  'recommended-rate/2026-11': [
    { date: '2026-11-01', entity_name: 'Acme', is_brand: true, recommended_rate: 33.3333, judged_answers: 3 },
  ],
}

const root = await mkdtemp(join(tmpdir(), 'report-'))
afterAll(() => rm(root, { recursive: true }))

const BLANK = { text: '', uuid: '', integer: 0, number: 0, boolean: false, date: '', timestamp: '', json: '' }

/** Writes a copy of brands with the same rows, of which the first is up to date. Returns its folder. */
async function writeCopy(name: string, ids = [BRAND]): Promise<string> {
  const folder = join(root, name)
  const copy = await openCopy(folderStore(folder))
  const commitAll = (table: Table, actions: readonly Action[]) =>
    commit(table, 'WRITE', { actions, expiry: 0 })
  for (const [file, rows] of Object.entries(FILES)) {
    const table = copy.metrics.get(file.replace(/\/.*/, ''))
    if (table === undefined) throw new Error(`There is no table of ${file}`)
    const blank = Object.fromEntries(table.stream.columns.map(({ name, type }) => [name, BLANK[type]]))
    const dates = rows.map(({ date }) => [String(date), '1 digest'])
    const sources = ids.map((brand_id) => ({
      days: { [brand_id]: Object.fromEntries(dates) },
      rows: () => rows.map((row) => ({ ...blank, brand_id, ...row })),
    }))
    await commitAll(table, await writeFiles(table, sources))
  }
  const about = { name: 'Acme', displayName: HOSTILE, url: 'acme.example', siteUrl: '', industry: null }
  // The last one has no rows, so no report names it.
  const listed = [...ids, randomUUID()].map((id) => ({ ...about, id, createdAt: '2026-01-01' }))
  const coverage = {
    ...{ scope: WHOLE, since: SINCE, fromDate: '2026-10-01' },
    ...{ brandIds: [BRAND], removed: {}, versions: '' },
  }
  await commitAll(copy.brands, await brandsActions(copy.brands, listed, { coverage }))
  return folder
}

const report = (...args: string[]) => exportApi({ key: '' }, 'report', ...args)

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()

browserTest('the report says whether a brand does better, and loads nothing', async () => {
  const folder = await writeCopy('shown')
  expect(await report(folder)).toMatchObject({ code: 0 })
  const browser = await startBrowser()
  try {
    const options = { offline: true, reducedMotion: 'reduce', colorScheme: 'dark' } as const
    const page = await browser.newPage({ ...PHONE, ...options })
    const requests: string[] = []
    const messages: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => messages.push(message.text()))
    page.on('pageerror', ({ message }) => messages.push(message))
    const address = pathToFileURL(join(folder, 'report.html')).href
    await page.goto(address)
    const sliders = page.getByRole('slider')
    const lines = async () =>
      Promise.all((await sliders.all()).map((slider) => slider.getAttribute('aria-valuetext')))
    const controls = page.locator('#controls')
    const choose = (label: string, option: string) => controls.getByLabel(label).selectOption(option)

    // The days fill no more periods, and of the days before the last 30 there are not all.
    const periods = ['Last 7 days', 'Last 30 days', 'All days']
    expect(await texts(page, '#controls label:first-child option')).toEqual(periods)
    expect(await texts(page, 'h2')).toEqual([HOSTILE])
    expect(await texts(page, '.facts span')).toEqual([
      'acme.example',
      'Last 7 days: 2026-10-26 to 2026-11-01',
      'Compared with 2026-10-19 to 2026-10-25',
      'As of 2026-11-02 10:31 UTC',
    ])
    expect(await texts(page, '.lead')).toEqual([
      'Visibility rose from 30 to 60 %; Acme overtook Low on 2026-11-01 and leads by 15 points. ' +
        'Weakest model: a (50 %). Weakest market: US (50 %).',
    ])
    expect(await texts(page, '.tile')).toEqual([
      'Visibility60.0 % n 200▲ 30.0 points better',
      'Sentiment50.0 % n 12unchanged within the noise',
      'Recommended rate50.0 % n 4no earlier period',
      'Citation Share12.5 % n 8too few answers to compare',
    ])
    expect(await lines()).toEqual([
      'All days: Total 60.00 %, b 70.00 %, a 50.00 %',
      `All days: Acme 60.00 %, Low 45.00 %, ${HOSTILE} 5.00 %`,
      'All days: Sentiment 50.00 %',
      'All days: Acme 50.00 %, Rival 100.00 %',
      'All days: Citation Share 12.50 %',
    ])
    // Owned pages come first, until a heading sorts.
    const cited = page.locator('.cited').first()
    const pages = () => cited.locator('tbody tr').allTextContents()
    expect(await pages()).toEqual(['acme.example/a2125.00 %', 'late.example/6075.00 %'])
    await cited.getByRole('button', { name: 'Citations' }).click()
    expect(await pages()).toEqual(['late.example/6075.00 %', 'acme.example/a2125.00 %'])
    expect(await page.locator('.cited figcaption').last().innerText()).toBe(
      'Most cited domains 1 of 8 citations are owned, a Citation Share of 12.50 %. acme.example alone has all of them.',
    )

    const numbers = page.locator('.chart:has-text("Sentiment") details')
    await page.locator('.tile', { hasText: 'Sentiment' }).click()
    await expect.poll(() => numbers.locator('tr').allTextContents()).toContain('2026-11-0150.00 % n 12')
    await expect
      .poll(() => numbers.locator('summary').evaluate((each) => document.activeElement === each))
      .toBe(true)
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(844)
    await page.getByText('Why it moved').first().click()
    await page.getByText('Visibility rose by 30.0 points to 60.0 %').waitFor()
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(await readFile(AXE, 'utf8'))
      expect(await page.evaluate('axe.run().then(({ violations }) => violations)')).toEqual([])
    }

    // Only visibility has models.
    await choose('Model', 'a')
    expect(await texts(page, '.facts span')).toContain('Visibility for a only')
    expect(await texts(page, '.lead')).toEqual(['Visibility rose from 20 to 50 %.'])
    expect((await texts(page, '.tile')).slice(0, 2)).toEqual([
      'Visibility50.0 % n 100▲ 30.0 points better',
      'Sentiment All models and markets.50.0 % n 12unchanged within the noise',
    ])
    expect((await lines()).slice(0, 2)).toEqual([
      'All days: a 50.00 %',
      `All days: Acme 60.00 %, Low 45.00 %, ${HOSTILE} 5.00 %`,
    ])
    const notes = await texts(page, '.chart:not(.cited) figcaption')
    const isWhole = notes.map((note) => note.endsWith(' All models and markets.'))
    expect(isWhole).toEqual([false, true, true, true, true])
    await choose('Market', 'UK')
    expect(await texts(page, '.lead')).toEqual(['No answers in this period.'])
    await choose('Model', 'All models')
    expect(await texts(page, '.facts span')).toContain('Visibility for UK only')
    expect(await texts(page, '.lead')).toEqual(['Visibility rose from 40 to 70 %.'])
    await choose('Market', 'All markets')

    await page.locator('.legend th', { hasText: /^b$/ }).click()
    await choose('Period', 'All days')
    // What the reader switched off stays off. 220 of 480 answers, not 47 %, the average of the days.
    expect((await lines())[0]).toBe('All days: Total 45.83 %, a 33.33 %')
    expect(await texts(page, '.facts span')).toContain('No earlier period to compare with')
    expect(await texts(page, '.lead')).toEqual([
      'Visibility is 46 %; Acme is level with Low. Weakest model: a (33 %). Weakest market: US (33 %).',
    ])
    expect(await texts(page, '.cited tbody tr')).toEqual([
      ...['acme.example/a2114.29 %', 'acme.example/b117.14 %'],
      ...['late.example/6042.86 %', 'a.example/13021.43 %', `${HOSTILE}2014.29 %`],
      ...['late.example6042.86 %', 'acme.example3221.43 %', `${HOSTILE}2014.29 %`, 'unknown3021.43 %'],
    ])
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      // The plots take their width in the next frame.
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    }
    await page.emulateMedia({ media: 'print' })
    expect(await controls.isVisible()).toBe(false)
    expect(await page.locator('img').count()).toBe(0)
    expect(requests).toEqual([address])
    expect(messages).toEqual([])
  } finally {
    await browser.close()
  }
})

test('the report reads each file once, whatever the number of brands in it', async () => {
  const store = folderStore(await writeCopy('read', [BRAND, OTHER]))
  const opened: string[] = []
  const open = (path: string) => {
    opened.push(path)
    return store.open(path)
  }
  const reports = await readReport({ ...store, open })
  expect(opened.length).toBe(new Set(opened).size)
  const [brand, other] = [BRAND, OTHER].map((id) => reports.find((report) => report.id === id))
  const days = { first: '2026-10-01', last: '2026-11-01' }
  expect(brand).toMatchObject({ days, asOf: SINCE })
  expect(other).toEqual({ ...brand, id: OTHER, asOf: null })
  expect(await readReport(store, [OTHER])).toEqual([other])
  await expect(readReport(store, ['Acme'])).rejects.toThrow('2 brands have the name Acme.')
})

test('a folder without a copy and a missing file are errors, and leave no report', async () => {
  const folder = await writeCopy('broken')
  const [path] = (await filesIn(folderStore(folder), 'sentiment')).map((file) => join(folder, file))
  await rm(String(path))
  const out = join(root, 'out')
  expect(await report(folder, '--out', join(out, 'report.html'))).toMatchObject({
    code: 2,
    stderr: `${path} cannot be read. Run export-api verify ${folder}.\n`,
  })
  const stderr = `${out} has no copy. Run sync first.\n`
  expect(await report(out)).toMatchObject({ code: 2, stderr })
  expect(existsSync(out)).toBe(false)
})
