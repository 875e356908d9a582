import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Row } from '../../../lib/parquet.ts'
import { hasBrowser, startBrowser } from '../../../test/fixtures/site/browser.ts'
import { PHONE } from '../../../test/fixtures/site/reference-page.ts'
import { brandsActions } from '../cli/brands.ts'
import { openCopy } from '../cli/copy.ts'
import type { Action } from '../cli/delta/log.ts'
import { commit, type Table } from '../cli/delta/table.ts'
import { writeFiles } from '../cli/files.ts'
import { folderStore } from '../cli/folder-store.ts'
import { readReport } from '../cli/report/read-report.ts'
import { exportApi, filesIn } from './copy-command.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const BRAND = 'e1d541ac-9bd5-39f4-b2f2-a1d0dbb73990'
const OTHER = '01d541ac-9bd5-39f4-b2f2-a1d0dbb73990'
const TOKEN = '2026-11-02T10:31:44.123456Z'
const HOSTILE = '</script><img src=x onerror=alert(1)>'

/** The rows of each month, without the columns that the report does not read. */
const FILES: Readonly<Record<string, readonly Row[]>> = {
  'visibility/2026-10': [
    { date: '2026-10-01', model_id: 'a', total_prompts: 4, visible_count: 1 },
    { date: '2026-10-01', model_id: 'b', total_prompts: 4, visible_count: 3 },
    { date: '2026-10-03', model_id: 'a', total_prompts: 2, visible_count: 2 },
  ],
  'visibility/2026-11': [{ date: '2026-11-01', model_id: 'a', total_prompts: 10, visible_count: 1 }],
  'competitors/2026-10': [
    { date: '2026-10-01', competitor_name: 'Low', total_responses: 8, competitor_visible_responses: 1 },
    { date: '2026-10-01', competitor_name: HOSTILE, total_responses: 8, competitor_visible_responses: 4 },
  ],
  'citations/2026-10': [
    { date: '2026-10-01', domain: null, citations: 1 },
    { date: '2026-10-01', domain: HOSTILE, citations: 1 },
    { date: '2026-10-02', domain: HOSTILE, citations: 1 },
    { date: '2026-10-02', domain: HOSTILE, citations: 1 },
  ],
  'citations/2026-11': [{ date: '2026-11-01', domain: 'late.example', citations: 2 }],
  'citation-share/2026-10': [
    { date: '2026-10-01', citations: 1, owned_citations: 1 },
    { date: '2026-10-01', citations: 7, owned_citations: 0 },
  ],
  'sentiment/2026-10': [{ date: '2026-10-01', positive_weight: 1.5, negative_weight: 0.5 }],
  'recommended-rate/2026-10': [
    { date: '2026-10-01', entity_name: 'Acme', recommended_rate: 33.3333, judged_answers: 3 },
    { date: '2026-10-01', entity_name: 'Rival', recommended_rate: 100, judged_answers: 3 },
    { date: '2026-10-02', entity_name: 'Acme', recommended_rate: 100, judged_answers: 1 },
  ],
}

const root = await mkdtemp(join(tmpdir(), 'report-'))
afterAll(() => rm(root, { recursive: true }))

const BLANK = { text: '', uuid: '', integer: 0, number: 0, boolean: false, date: '', timestamp: '' }

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
  const listed = ids.map((id) => ({ ...about, id, createdAt: '2026-01-01' }))
  const days = { fromDate: '2026-10-01', toDate: '9999-12-31' }
  const coverage = { token: TOKEN, ...days, brandIds: [BRAND], goneIds: [], versions: {} }
  await commitAll(copy.brands, await brandsActions(copy.brands, listed, { coverage }))
  return folder
}

const report = (...args: string[]) => exportApi({ key: '' }, 'report', ...args)

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()

test.skipIf(!hasBrowser)('the report shows the figures of a copy, and loads nothing', async () => {
  const folder = await writeCopy('shown')
  expect(await report(folder)).toMatchObject({ code: 0 })
  const browser = await startBrowser()
  try {
    const context = await browser.newContext({ ...PHONE, offline: true, colorScheme: 'dark' })
    const page = await context.newPage()
    const requests: string[] = []
    const messages: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => messages.push(message.text()))
    page.on('pageerror', ({ message }) => messages.push(message))
    const address = pathToFileURL(join(folder, 'report.html')).href
    await page.goto(address)

    expect(await texts(page, 'h2')).toEqual([HOSTILE])
    expect(await texts(page, '.lead span')).toEqual([
      'acme.example',
      'All days: 2026-10-01 to 2026-11-01',
      'Contains all changes through 2026-11-02 10:31 UTC',
    ])
    expect((await texts(page, '.figures div')).join(', ')).toBe(
      'Visibility35.00 %, Citation Share12.50 %, Sentiment75.00 %, Recommended rate50.00 %',
    )
    expect(await texts(page, '.chart dl')).toEqual([
      'Visibility35.00 %b75.00 %a25.00 %',
      `${HOSTILE}50.00 %Low12.50 %`,
      'Citation Share12.50 %',
      'Sentiment75.00 %',
      'Acme50.00 %Rival100.00 %',
    ])
    expect((await texts(page, 'main > section table td, main > section table tbody th')).join(' ')).toBe(
      `${HOSTILE} 3 50.00 % late.example 2 33.33 % unknown 1 16.67 %`,
    )

    const slider = page.getByRole('slider').first()
    await slider.press('Home')
    expect(await slider.getAttribute('aria-valuetext')).toBe(
      // Not 75 %, the average of the rates of its days.
      '2026-10-01 to 2026-10-11: Visibility 60.00 %, b 75.00 %, a 50.00 %',
    )
    await page.getByText('Numbers of the chart').first().click()
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(await readFile(AXE, 'utf8'))
      expect(await page.evaluate('axe.run().then(({ violations }) => violations)')).toEqual([])
    }

    // From 2026-10-03: the sentiment and others have no rows.
    await page.getByLabel('Period').selectOption('Last 30 days')
    expect(await texts(page, '.lead span')).toContain('Last 30 days: 2026-10-03 to 2026-11-01')
    expect(await texts(page, '.chart .results')).toEqual(['Last 30 daysVisibility25.00 %bno valuea25.00 %'])
    expect(await texts(page, 'main > section table')).toEqual([
      'Cited URLs The most cited domains. Last 30 days: 2 citations.DomainCitationsOf alllate.example2100.00 %',
    ])
    expect(await texts(page, '.chart figcaption')).toEqual([
      expect.stringMatching(
        /^Visibility by week 2026-10-03 to 2026-11-01\. A point is a week; the first has 9 days\. /,
      ),
    ])
    await page.getByLabel('Points').selectOption('Days')
    expect(await texts(page, '.chart figcaption')).toEqual([
      expect.stringMatching(/^Visibility by day 2026-10-03 to 2026-11-01\. [^A]/),
    ])
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    }
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
  expect(brand).toMatchObject({ days, through: TOKEN })
  expect(other).toEqual({ ...brand, id: OTHER, through: null })
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
