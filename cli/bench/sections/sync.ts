import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { buildCommand } from '../command.ts'
import { createDatabase } from '../database.ts'
import { figure, type Section, type Setting, type Table } from '../section.ts'
import { startService } from '../service.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { changeDays, daysFrom, fillYear, listDays, startBrandYear } from '../year.ts'

const MOST_MIB = 200
/** In a month of 31 days. */
const CHANGED_DAY = '2026-10-15'
const SCATTERED_DAYS = daysFrom('2026-08-24', 2)
const SMALL = { brands: 500, rowsPerDay: 18 }

type Sync = Awaited<ReturnType<typeof buildCommand>>

/** What the sync command costs: requests, memory and written files. */
export const section: Section = async (setting) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-sync-'))
  try {
    const run = await buildCommand()
    return [
      await measureYear(setting, run, join(folder, 'year')),
      await measureSmallBrands(setting, run, join(folder, 'small')),
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function measureYear(setting: Setting, run: Sync, folder: string): Promise<Table> {
  await using its = await startBrandYear(setting)
  const rows: (string | number)[][] = []
  const measure = async (name: string, least: (rows: number) => number, ...args: string[]) => {
    setting.report(name)
    const before = await filesOf(folder)
    its.state.consumed = 0
    const { rows: count, peakMib } = await run(args, { ...its, url: its.emulator.url })
    const after = [...(await filesOf(folder))].filter(([path]) => isOfTable(path) && !before.has(path))
    const written = after.map(([, size]) => size)
    rows.push([name, count, its.state.consumed, least(count), written.length, mibOf(written), peakMib])
  }
  const sync = ['sync', '--out', folder, '--brand', its.brandId]
  const ofPages = (rows: number) => 3 + Math.ceil(rows / PAGE_SIZE)
  await measure('first sync', ofPages, ...sync)
  await measure('sync, nothing changed', () => 2, ...sync)
  await changeDays(its, [CHANGED_DAY])
  await measure('sync, one day changed', ofPages, ...sync)
  await changeDays(its, SCATTERED_DAYS)
  await measure('sync, every second of 90 days changed', ofPages, ...sync)
  await measure('verify', () => 2, 'verify', folder, '--full')
  return {
    title: 'A copy of a brand-year',
    columns: ['', 'rows', 'requests', 'least', 'files written', 'MiB written', 'peak memory, MiB'],
    rows,
    note: `The least: the pages of ${PAGE_SIZE} rows, a request for the brands and one for the changes, which is repeated after rows were fetched. Verify counts the rows that it reads from the files. Peak memory of the process; goal: below ${MOST_MIB}.`,
  }
}

/** Measures a copy of many brands that have few rows each. */
async function measureSmallBrands(
  { serverUrl, sized, report }: Setting,
  run: Sync,
  folder: string,
): Promise<Table> {
  const count = sized(SMALL.brands)
  report(`${figure(count)} small brands`)
  await using database = await createDatabase(serverUrl)
  const { client, url: databaseUrl } = database
  const { organizationId, key } = await addTenant(client)
  const brandIds = await addBrands(client, organizationId, count)
  await fillYear(client, new Map(brandIds.map((id) => [id, SMALL.rowsPerDay])))
  for (const brandId of brandIds) await listDays(client, brandId)
  await using service = await startService({ databaseUrl })
  const runs: (string | number)[][] = []
  for (const name of ['first sync', 'next sync']) {
    report(name)
    service.state.consumed = 0
    const { rows, peakMib } = await run(['sync', '--out', folder], { url: service.emulator.url, key })
    runs.push([
      name,
      rows,
      service.state.consumed,
      ...(await describeTable(join(folder, 'citation_share'))),
      peakMib,
    ])
  }
  return {
    title: `A year of ${figure(count)} brands with ${SMALL.rowsPerDay} rows a day`,
    columns: ['', 'rows', 'requests', 'files', 'MiB', 'MiB of the log', 'peak memory, MiB'],
    rows: runs,
    note: 'The files are those of the last version of the table. Goals: at most 20 files, and 2 requests of the next sync.',
  }
}

/** Returns the number and size of the files of a table's last version, and the size of its log. */
async function describeTable(folder: string): Promise<number[]> {
  const log = join(folder, '_delta_log')
  const sizes = new Map<string, number>()
  for (const entry of (await readdir(log)).filter((name) => name.endsWith('.json')).sort())
    for (const line of (await readFile(join(log, entry), 'utf8')).trim().split('\n')) {
      const { add, remove } = JSON.parse(line)
      if (add) sizes.set(add.path, add.size)
      if (remove) sizes.delete(remove.path)
    }
  return [sizes.size, mibOf([...sizes.values()]), mibOf([...(await filesOf(log)).values()])]
}

const mibOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2

/** Whether a file has rows of a table. It is never written again. */
const isOfTable = (path: string): boolean => path.endsWith('.parquet') && !path.includes('_delta_log')

/** Returns the sizes of what is in a folder. */
async function filesOf(folder: string): Promise<Map<string, number>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = paths.map(async (path) => [path, (await stat(join(folder, path))).size] as const)
  return new Map(await Promise.all(sizes))
}
