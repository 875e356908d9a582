import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { database } from '../fixtures/rows.ts'
import { hasBrowser, startBrowser } from '../fixtures/site/browser.ts'
import { openReferencePage } from '../fixtures/site/reference-page.ts'
import { tenant } from '../fixtures/tenant.ts'

describe.skipIf(!hasBrowser)('in a browser (skipped without Chromium)', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  test('loads only its own files, and shows the rows and the formula result of a request', async () => {
    const db = database()
    const { brandId, key } = await tenant(db)
    await fillDaily(db, { brandId, name: 'sentiment', first: '2026-10-01', rows: 5, days: 5 })
    const { page, requests, messages, section, useKey, send, close } = await openReferencePage(browser)
    const paths = () =>
      requests
        .map((request) => new URL(request.url()).pathname.replace(/[0-9a-f]{16}|[0-9A-Z]{8}/, '…'))
        .sort()
    const files = ['', '/….css', '/….js', '/….js', '/….svg'].map((name) => `/api/export/v1/docs${name}`)
    await expect.poll(paths).toEqual(files)

    expect(await useKey(key)).toMatch(/^This key can read /)
    expect(await send('sentiment', { fromDate: '2026-10-01', toDate: '2026-10-31' })).toMatch(/^200 5 rows/)
    expect(await section('sentiment').getByRole('cell').allTextContents()).toContain('12.5000')
    await expect
      .poll(() => section('sentiment').getByRole('slider').getAttribute('aria-valuetext'))
      .toBe('All days shown: Sentiment 50.00 %')
    // The chart's library arrives with the first chart.
    expect(paths().filter((path) => path.endsWith('.js'))).toHaveLength(3)
    expect(await page.locator('#visibility [data-parameter=brandId]').inputValue()).toBe(brandId)
    expect(messages).toEqual([])
    await close()
  })

  test('saves the profile file of the key that is entered', async () => {
    const key = mintApiKey()
    const { page, messages, close } = await openReferencePage(browser)
    const button = page.getByRole('button', { name: 'Download profile' })
    const state = page.locator('#profile-state')
    await button.click()
    expect(await state.textContent()).toMatch(/^Enter your API key first/)
    await page.getByLabel('API key').fill(` ${key}`)
    await button.focus()
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    expect(download.suggestedFilename()).toBe('export.share')
    expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toEqual({
      shareCredentialsVersion: 1,
      endpoint: `${inject('serviceUrl')}/api/sharing/v1`,
      bearerToken: key,
    })
    expect(await state.textContent()).toBe('Saved export.share. It contains your key.')
    expect(messages).toEqual([])
    await close()
  })
})
