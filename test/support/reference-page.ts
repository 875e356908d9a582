import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core'
import { expect, inject } from 'vitest'

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } }
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
}

/** The reference page in a browser, with what it requested and printed to the console. */
export type ReferencePage = {
  readonly page: Page
  readonly requests: readonly Request[]
  readonly messages: readonly string[]
  readonly section: (id: string) => Locator
  /** Enters a key, and waits for the result. */
  readonly useKey: (key: string) => Promise<string>
  /** Fills in the form of an endpoint, sends it, and returns the summary of the response. */
  readonly send: (id: string, fields?: Readonly<Record<string, string>>) => Promise<string>
  /** Closes the page. Fails when it requested anything from another host. */
  readonly close: () => Promise<void>
}

/** Opens the reference page with a rate budget of its own. */
export async function openReferencePage(
  browser: Browser,
  options: BrowserContextOptions = DESKTOP,
): Promise<ReferencePage> {
  const requests: Request[] = []
  const messages: string[] = []
  const userAgent = `Tests ${randomUUID()}`
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce', userAgent })
  const page = await context.newPage()
  page.on('request', (request) => requests.push(request))
  page.on('console', (message) => messages.push(message.text()))
  page.on('pageerror', ({ message }) => messages.push(message))
  await page.goto(`${inject('serviceUrl')}/api/export/v1/docs`)

  const section = (id: string) => page.locator(`section#${id}`)
  /** Waits until the text of an element is a result. */
  async function resultOf(element: Locator): Promise<string> {
    await expect.poll(() => element.textContent()).toMatch(/^(?!Sending).+/)
    return (await element.textContent()) ?? ''
  }

  return {
    page,
    requests,
    messages,
    section,
    useKey: async (key) => {
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Use key' }).click()
      return resultOf(page.locator('#key-state'))
    },
    send: async (id, fields = {}) => {
      for (const [name, value] of Object.entries(fields))
        await section(id).locator(`[data-parameter="${name}"]`).fill(value)
      await section(id).getByRole('button', { name: 'Send' }).click()
      return resultOf(section(id).locator('[data-summary]'))
    },
    close: async () => {
      expect([...new Set(requests.map((request) => new URL(request.url()).origin))]).toEqual([
        inject('serviceUrl'),
      ])
      await context.close()
    },
  }
}
