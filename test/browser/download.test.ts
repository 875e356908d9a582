import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeEach, expect, inject } from 'vitest'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { browserTest } from '../fixtures/site/browser.ts'
import { openReferencePage, type ReferencePage } from '../fixtures/site/reference-page.ts'

const HEADERS = {
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Content-Disposition': 'attachment; filename="visibility_e1d541ac-9bd5-39f4-b2f2-a1d0dbb73990.csv"',
}

let opened: ReferencePage
let saved: string[]
let answer: (response: ServerResponse) => void
const server = await startLocalServer((_, response) => answer(response))
afterAll(server.close)

beforeEach(async () => {
  opened = await openReferencePage()
  saved = []
  opened.page.on('download', (download) => saved.push(download.suggestedFilename()))
  await opened.page.route('**/v1/visibility?**', (route) => route.continue({ url: `${server.url}/` }))
})
const button = () => opened.section('visibility').locator('[data-download]')
const state = async () => (await opened.section('visibility').locator('.state').textContent())?.trim()

/** Starts a download, and waits until the page has read two rows of it. */
async function startDownload(headers: Record<string, string> = {}): Promise<ServerResponse> {
  const response = new Promise<ServerResponse>((resolve) => {
    answer = resolve
  })
  await button().click()
  const started = await response
  started
    .writeHead(200, { ...HEADERS, ...headers })
    .write('date,name\r\n2026-10-01,"a ""b""\r\nc"\r\n2026-10-02,d\r\n')
  await expect.poll(state).toBe('Sending… 2 rows, 0.1 kB')
  return started
}

browserTest('shows the rows as they arrive, and saves the file when it is complete', async () => {
  const response = await startDownload()
  expect(saved).toEqual([])
  response.end('2026-10-03,e\r\n')
  await expect.poll(state).toBe('Saved visibility_Brand.csv: 3 rows, 0.1 kB.')
  expect(await button().textContent()).toBe('Download CSV')
  await expect.poll(() => saved).toEqual(['visibility_Brand.csv'])
})

browserTest.each<[string, number, (response: ServerResponse) => unknown]>([
  ['the transfer fails', 2, (response) => response.destroy()],
  ['fewer rows arrive than the service says', 3, (response) => response.end('2026-10-03,e\r\n')],
])('saves nothing when %s', async (_, rows, end) => {
  end(await startDownload({ 'X-Expected-Rows': '4' }))
  const message = `The transfer failed after ${rows} rows, 0.1 kB. Nothing was saved. Download the file again.`
  await expect.poll(state).toBe(message)
  expect(saved).toEqual([])
})

browserTest('cancels', async () => {
  const response = await startDownload()
  const closed = once(response, 'close')
  expect(await button().textContent()).toBe('Cancel')
  await button().click()
  await expect.poll(state).toBe('Canceled. Nothing was saved.')
  await closed
  expect(await button().textContent()).toBe('Download CSV')
  expect(saved).toEqual([])
})

browserTest("shows the service's errors, and that there is no response", async () => {
  answer = (response) => response.writeHead(400).end('{"error":"Ask for a shorter window."}')
  await button().click()
  await expect.poll(state).toBe('400: Ask for a shorter window.')
  answer = (response) => response.destroy()
  await button().click()
  await expect.poll(state).toBe('No response. Check your connection, then download the file again.')
  expect(saved).toEqual([])
})

browserTest('saves the profile file of the key that is entered', async () => {
  const key = mintApiKey()
  const { page, messages } = opened
  const button = page.getByRole('button', { name: 'Download profile' })
  const state = page.locator('#profile-state')
  await button.click()
  await expect.poll(() => state.textContent()).toMatch(/^Enter your API key first/)
  await page.getByLabel('API key').fill(` ${key}`)
  await button.focus()
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  expect(download.suggestedFilename()).toBe('export.share')
  expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toEqual({
    shareCredentialsVersion: 1,
    endpoint: `${inject('serviceUrl')}/api/sharing/v1`,
    bearerToken: key,
  })
  await expect.poll(() => state.textContent()).toBe('Saved export.share. It contains your key.')
  expect(messages).toEqual([])
})
