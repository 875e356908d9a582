import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCommand } from '../../../connectors/typescript/build.ts'
import { openCopy } from '../../../connectors/typescript/cli/copy.ts'
import { folderStore } from '../../../connectors/typescript/cli/folder-store.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { type BrandYear, changeDays, withBrandYear } from '../brand-year.ts'
import { type Finished, runNode } from '../child.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section, type Setting, type Table } from '../section.ts'
import { withService } from '../service.ts'
import { fillSmallBrands, ROWS_PER_DAY } from '../small-brands.ts'
import { measureHistory } from '../sync-history.ts'
import { addTenant } from '../tenant.ts'

const MOST_MIB = 200
/** In a month of 31 days. */
const CHANGED_DAY = '2026-10-15'
/** Every second of 90 days. */
const SCATTERED_DAYS = Array.from({ length: 45 }, (_, index) =>
  new Date(Date.UTC(2026, 7, 1 + 2 * index)).toISOString().slice(0, 10),
)

/** What the sync command costs: requests, memory and written files. */
export const section: Section = async (setting) => {
  const { sized, report } = setting
  const work = await mkdtemp(join(tmpdir(), 'bench-sync-'))
  const command = join(work, 'export-api.mjs')
  try {
    await bundleCommand(command)
    const year = await withBrandYear(setting, (year) =>
      measureRuns(year, { command, folder: join(work, 'copy'), report }),
    )
    const small = await measureSmallBrands(setting, { command, folder: join(work, 'small'), report })
    report('a sync every five minutes')
    return [year, small, await measureHistory(sized(365))]
  } finally {
    await rm(work, { recursive: true })
  }
}

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
    const before = await dataFilesOf(folder)
    const { lines, peakMib } = await run()
    const { rows: count } = JSON.parse(lines.at(-1) ?? '')
    const after = await dataFilesOf(folder)
    const written = [...after].filter(([path]) => !before.has(path)).map(([, size]) => size)
    rows.push([
      name,
      count,
      year.state.consumed - consumed,
      leastRequests(count),
      written.length,
      mibOf(written),
      peakMib,
    ])
  }
  const pages = (rows: number) => Math.ceil(rows / PAGE_SIZE)
  const { brandId } = year
  const syncFolder = () => sync(environmentOf(year), copy, '--brand', brandId)
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
    title: 'A copy of a brand-year',
    columns: ['', 'rows', 'requests', 'least', 'files written', 'MiB written', 'peak memory, MiB'],
    rows,
    note: `The least: the pages of ${PAGE_SIZE} rows, a request for the brands and one for the changes, which is repeated after rows were fetched. Verify counts the rows that it reads from the files. Peak memory of the process; goal: below ${MOST_MIB}.`,
  }
}

/** Measures a copy of many brands that have few rows each. */
async function measureSmallBrands({ serverUrl, sized, report }: Setting, copy: Copy): Promise<Table> {
  const brands = sized(500)
  const rows = await inDatabase(serverUrl, async (client, databaseUrl) => {
    report(`${figure(brands)} small brands`)
    const { organizationId, key } = await addTenant(client)
    await fillSmallBrands(client, { organizationId, brands })
    return withService({ databaseUrl }, async (service) => {
      const runs: (string | number)[][] = []
      for (const name of ['first sync', 'next sync']) {
        report(name)
        const consumed = service.state.consumed
        const { lines, peakMib } = await sync(environmentOf({ ...service, key }), copy)
        const { rows: count, requests } = JSON.parse(lines.at(-1) ?? '')
        if (service.state.consumed - consumed !== requests) throw new Error('The command miscounts requests.')
        runs.push([name, count, requests, ...(await describeTable(copy.folder)), peakMib])
      }
      return runs
    })
  })
  return {
    title: `A year of ${figure(brands)} brands with ${ROWS_PER_DAY} rows a day`,
    columns: [
      '',
      'rows',
      'requests',
      'files',
      'MiB',
      'replaced files',
      'MiB',
      'MiB of the log',
      'peak memory, MiB',
    ],
    rows,
    note: 'Replaced files stay for 7 days. Goals: at most 20 files, and 2 requests of the next sync.',
  }
}

/** Returns the number and size of a table's files, of those that they replaced, and the size of its log. */
async function describeTable(folder: string): Promise<number[]> {
  const store = folderStore(folder)
  const table = (await openCopy(store)).metrics.get('citation-share')
  if (table === undefined) throw new Error('The copy has no citation_share.')
  const { name, snapshot, listed } = table
  const files = [...snapshot.files.values()].map(({ size }) => size)
  const replaced = [...listed].filter(([path, { size }]) => size >= 0 && !snapshot.files.has(path))
  const log = [...(await store.list(`${name}/_delta_log`)).values()].map(({ size }) => size)
  return [
    files.length,
    mibOf(files),
    replaced.length,
    mibOf(replaced.map(([, { size }]) => size)),
    mibOf(log),
  ]
}

const sync = (environment: Record<string, string>, { command, folder }: Copy, ...args: string[]) =>
  runNode(command, ['sync', '--out', folder, ...args], environment)

const environmentOf = ({ emulator, key }: Pick<BrandYear, 'emulator' | 'key'>) => ({
  EXPORT_API_URL: emulator.url,
  EXPORT_API_KEY: key,
})

const mibOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2

/** Returns the sizes of the Parquet files of tables, which are never written again. */
async function dataFilesOf(folder: string): Promise<Map<string, number>> {
  const files = new Map<string, number>()
  for (const path of await readdir(folder, { recursive: true }).catch(() => []))
    if (path.endsWith('.parquet') && !path.includes('_delta_log'))
      files.set(path, (await stat(join(folder, path))).size)
  return files
}
