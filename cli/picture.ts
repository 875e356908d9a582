import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, type BrowserContextOptions, chromium, type Locator } from 'playwright-core'
import { UsageError } from '../drizzle/db/connect.ts'
import { DEMO } from '../drizzle/seed/demo.ts'
import { withDemoService } from '../emulator/fixed-demo.ts'
import { run } from './run.ts'

// node cli/picture.ts writes docs/report.png, the picture of the report in the README. With --all it writes pictures of
// the reference page and the report to dist/pictures/ instead: each width, theme and print. Needs Chromium, and a Node
// that runs TypeScript, such as node_modules/.bin/node.

const COMMAND = fileURLToPath(new URL('./main.mjs', import.meta.url))
const PICTURE = fileURLToPath(new URL('../docs/report.png', import.meta.url))
const ALL = fileURLToPath(new URL('../dist/pictures/', import.meta.url))
const MAX_BYTES = 250_000
/** White around what is shown. */
const MARGIN = 16
const WIDTHS = [390, 768, 1280, 1440]
const STATES: readonly BrowserContextOptions[] = [
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { forcedColors: 'active' },
  { javaScriptEnabled: false },
]

/** Fixed, so that the picture does not depend on the day on which it is made. */
const DAY = '2026-11-05'
const CHANGED = '2026-11-06T04:31:07.123456Z'

const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

await run(async () => {
  if (!existsSync(PROGRAM)) {
    throw new UsageError(
      `Chromium is not at ${PROGRAM}. Install it, or set CHROMIUM to the path of its program.`,
    )
  }
  const folder = await mkdtemp(join(tmpdir(), 'picture-'))
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS })
  try {
    await withDemoService({ day: DAY, changed: CHANGED }, async (service) => {
      const args = ['sync', '--url', service, '--out', folder, '--brand', DEMO.brandId, '--report']
      const env = { ...process.env, EXPORT_API_KEY: DEMO.key }
      await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })
      const address = pathToFileURL(join(folder, 'report.html')).href
      if (!process.argv.includes('--all')) return writePicture(await photograph(browser, address))
      await mkdir(ALL, { recursive: true })
      const pages = { page: `${service}/docs#visibility?fromDate=2026-10-07&toDate=${DAY}`, report: address }
      for (const [name, url] of Object.entries(pages))
        await photographAll(browser, { url, path: join(ALL, name) })
      console.log('Wrote dist/pictures/.')
    })
  } finally {
    await browser.close()
    await rm(folder, { recursive: true })
  }
})

async function writePicture(picture: Buffer): Promise<void> {
  if (picture.length >= MAX_BYTES) {
    throw new UsageError(
      `The picture has ${picture.length} bytes, and less than ${MAX_BYTES} are allowed. Show less of the report in cli/picture.ts.`,
    )
  }
  await writeFile(PICTURE, picture)
  console.log(`Wrote docs/report.png: ${picture.length} bytes.`)
}

/** Returns a PNG of the first brand of a report: its name, its figures and the first row of charts. */
async function photograph(browser: Browser, url: string): Promise<Buffer> {
  const options = { colorScheme: 'light', reducedMotion: 'reduce' } as const
  const page = await browser.newPage({ ...options, viewport: { width: 1280, height: 900 } })
  page.setDefaultTimeout(5_000)
  await page.goto(url)
  const brand = page.locator('main section').first()
  const [from, to] = await Promise.all([boxOf(brand), boxOf(brand.locator('.charts > *').nth(1))])
  const clip = {
    x: from.x - MARGIN,
    y: from.y - MARGIN,
    width: from.width + 2 * MARGIN,
    height: to.y + to.height - from.y + 2 * MARGIN,
  }
  return await page.screenshot({ clip, fullPage: true })
}

/** Writes pictures of a page in every width and state: its first screen, all of it, and its print. */
async function photographAll(
  browser: Browser,
  { url, path }: { readonly url: string; readonly path: string },
) {
  for (const state of STATES) {
    const [name = ''] = Object.values(state)
    for (const width of WIDTHS) {
      const page = await browser.newPage({
        ...state,
        reducedMotion: 'reduce',
        viewport: { width, height: 900 },
      })
      await page.goto(url, { waitUntil: 'networkidle' })
      if (state.javaScriptEnabled !== false) await page.locator('.plot canvas').first().waitFor()
      await page.screenshot({ path: `${path}-${width}-${name}-top.png` })
      await page.screenshot({ path: `${path}-${width}-${name}.png`, fullPage: true })
      if (width === 1280) await page.pdf({ path: `${path}-${name}.pdf`, format: 'A4' })
      await page.close()
    }
  }
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  if (box === null) throw new Error('The report does not show what the picture needs.')
  return box
}
