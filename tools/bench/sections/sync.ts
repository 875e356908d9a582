import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCommand } from '../../../connectors/typescript/build.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { type BrandYear, changeDays, withBrandYear } from '../brand-year.ts'
import { type Finished, runNode } from '../child.ts'
import type { Section, Table } from '../section.ts'

const MOST_MIB = 200
/** In a month of 31 days. */
const CHANGED_DAY = '2026-10-15'
/** Every second of 90 days. */
const SCATTERED_DAYS = Array.from({ length: 45 }, (_, index) =>
  new Date(Date.UTC(2026, 7, 1 + 2 * index)).toISOString().slice(0, 10),
)

/** What the sync command costs: requests, memory and written files. */
export const section: Section = (setting) =>
  withBrandYear(setting, async (year) => {
    const work = await mkdtemp(join(tmpdir(), 'bench-sync-'))
    const command = join(work, 'export-api.mjs')
    const copy = { command, folder: join(work, 'copy'), report: setting.report }
    try {
      await mkdir(copy.folder)
      await bundleCommand(command)
      return [await measureRuns(year, copy)]
    } finally {
      await rm(work, { recursive: true })
    }
  })

type Copy = {
  readonly command: string
  readonly folder: string
  readonly report: (progress: string) => void
}

async function measureRuns(year: BrandYear, copy: Copy): Promise<Table> {
  const { command, folder, report } = copy
  const rows: (string | number)[][] = []
  const measure = async (
    name: string,
    leastRequests: (rows: number) => number,
    run: () => Promise<Finished>,
  ) => {
    report(name)
    const consumed = year.state.consumed
    const before = await filesOf(folder)
    const { lines, peakMib } = await run()
    const { rows: count } = JSON.parse(lines.at(-1) ?? '')
    const after = [...(await filesOf(folder))]
    const written = after.filter(([path, { mtimeMs }]) => mtimeMs !== before.get(path)?.mtimeMs)
    const mib = written.reduce((sum, [, { size }]) => sum + size, 0) / 1024 ** 2
    rows.push([
      name,
      count,
      year.state.consumed - consumed,
      leastRequests(count),
      written.length,
      mib,
      peakMib,
    ])
  }
  const pages = (rows: number) => Math.ceil(rows / PAGE_SIZE)
  const syncFolder = () => sync(year, copy)
  await measure('first sync', (rows) => 3 + pages(rows), syncFolder)
  await measure('sync, nothing changed', () => 2, syncFolder)
  await changeDays(year, [CHANGED_DAY])
  await measure('sync, one day changed', (rows) => 3 + pages(rows), syncFolder)
  await changeDays(year, SCATTERED_DAYS)
  await measure('sync, every second of 90 days changed', (rows) => 3 + pages(rows), syncFolder)
  await measure(
    'verify',
    () => 2,
    () => runNode(command, ['verify', folder, '--full'], environmentOf(year)),
  )
  return {
    title: 'A brand-year as a folder of Parquet files',
    columns: ['', 'rows', 'requests', 'least', 'files written', 'MiB written', 'peak memory, MiB'],
    rows,
    note: `The least: the pages of ${PAGE_SIZE} rows, a request for the brands and one for the changes, which is repeated after rows were fetched. Verify counts the rows that it reads from the files. Peak memory of the process; goal: below ${MOST_MIB}.`,
  }
}

const sync = (year: BrandYear, { command, folder }: Copy): Promise<Finished> =>
  runNode(command, ['sync', '--out', folder, '--brand', year.brandId], environmentOf(year))

const environmentOf = ({ emulator, key }: BrandYear) => ({
  EXPORT_API_URL: emulator.url,
  EXPORT_API_KEY: key,
})

async function filesOf(folder: string): Promise<Map<string, { size: number; mtimeMs: number }>> {
  const files = new Map<string, { size: number; mtimeMs: number }>()
  for (const path of await readdir(folder, { recursive: true })) {
    const file = await stat(join(folder, path))
    if (file.isFile()) files.set(path, file)
  }
  return files
}
