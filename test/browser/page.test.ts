import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { hasBrowser, startBrowser } from '../fixtures/site/browser.ts'
import { openReferencePage } from '../fixtures/site/reference-page.ts'

describe.skipIf(!hasBrowser)('in a browser (skipped without Chromium)', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>

  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

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
