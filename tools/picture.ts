import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium, type Locator } from 'playwright-core'
import { run } from '../cli/run.ts'
import { createApi } from '../connectors/typescript/cli/api.ts'
import { openStore } from '../connectors/typescript/cli/open-store.ts'
import { createProgress } from '../connectors/typescript/cli/progress.ts'
import { writeReport } from '../connectors/typescript/cli/report/write-report.ts'
import { sync } from '../connectors/typescript/cli/sync.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { DEMO } from '../drizzle/seed/demo.ts'
import { withDemoService } from '../emulator/demo-service.ts'

const PICTURE = fileURLToPath(new URL('../docs/report.png', import.meta.url))
const MAX_BYTES = 150_000
/** White around what is shown. */
const MARGIN = 16

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
  try {
    const report = join(folder, 'report.html')
    await reportDemo(join(folder, 'copy'), report)
    const picture = await photograph(report)
    if (picture.length >= MAX_BYTES) {
      throw new UsageError(
        `The picture has ${picture.length} bytes, and less than ${MAX_BYTES} are allowed. Show less of the report in tools/picture.ts.`,
      )
    }
    await writeFile(PICTURE, picture)
    console.log(`Wrote docs/report.png: ${picture.length} bytes.`)
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** Copies a brand of the demo data, and writes its report. */
function reportDemo(copy: string, report: string): Promise<void> {
  return withDemoService({ day: DAY, changed: CHANGED }, async (url) => {
    const progress = createProgress({ quiet: true })
    const store = openStore(copy, progress)
    const api = createApi({ url, key: DEMO.key }, progress)
    await sync({ api, store, fromDate: undefined, progress }, [DEMO.brandId])
    await writeReport(store, report)
  })
}

/** Returns a PNG of the first brand of a report: its name, its figures and the first row of charts. */
async function photograph(report: string): Promise<Buffer> {
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS })
  try {
    const page = await browser.newPage({
      viewport: { width: 1440, height: 900 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
    })
    page.setDefaultTimeout(5_000)
    await page.goto(pathToFileURL(report).href)
    await page.getByLabel('Points').selectOption('Weeks')
    const brand = page.locator('main section').first()
    const [from, to] = await Promise.all([boxOf(brand), boxOf(brand.locator('.charts > *').nth(1))])
    const clip = {
      x: from.x - MARGIN,
      y: from.y - MARGIN,
      width: from.width + 2 * MARGIN,
      height: to.y + to.height - from.y + 2 * MARGIN,
    }
    return await page.screenshot({ clip, fullPage: true })
  } finally {
    await browser.close()
  }
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  if (box === null) throw new Error('The report does not show what the picture needs.')
  return box
}
