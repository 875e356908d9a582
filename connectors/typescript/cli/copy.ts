import { openTable, type Table } from './delta/table.ts'
import { CommandError, UsageError } from './errors.ts'
import { daysOf, statisticsOf } from './files.ts'
import type { Store } from './store.ts'
import { BRANDS, METRICS, type Stream } from './streams.ts'
import { listOf } from './text.ts'

/** A Delta table for each metric and for the brands, in one folder or under one prefix. */
export type Copy = {
  readonly store: Store
  readonly brands: Table
  /** By endpoint. */
  readonly metrics: ReadonlyMap<string, MetricTable>
}

export type MetricTable = Table & { readonly stream: Stream }

/** Opens a copy, also one that does not exist yet. Throws `UsageError` when only files of others are there. */
export async function openCopy(store: Store): Promise<Copy> {
  const copy = await openTables(store)
  if (!exists(copy)) await refuseOthers(store)
  return copy
}

async function openTables(store: Store): Promise<Copy> {
  const open = async (stream: Stream): Promise<[string, MetricTable]> => [
    stream.endpoint,
    { ...(await openTable(store, { name: stream.name, columns: stream.tableColumns })), stream },
  ]
  const metrics = await Promise.all(METRICS.map(open))
  // Afterwards: it then has the scope of all their days.
  const [, brands] = await open(BRANDS)
  return { store, brands, metrics: new Map(metrics) }
}

const exists = (copy: Copy): boolean => tablesOf(copy).some(({ snapshot }) => snapshot.version >= 0)

/** Opens a copy that exists. Throws `CommandError` when none does. */
export async function requireCopy(store: Store): Promise<Copy> {
  const copy = await openTables(store)
  if (exists(copy)) return copy
  throw new CommandError(`${store.location} has no copy. Run sync first.`)
}

export const tablesOf = ({ brands, metrics }: Copy): readonly Table[] => [brands, ...metrics.values()]

/** Returns the ids of the brands that a copy has rows of. */
export const brandsOf = ({ metrics }: Copy): Set<string> =>
  new Set(
    [...metrics.values()].flatMap(({ snapshot }) =>
      [...snapshot.files.values()].flatMap((file) => Object.keys(daysOf(file))),
    ),
  )

/** How much a copy has. `bytes` are those of its files. */
export type CopySize = { readonly files: number; readonly bytes: number; readonly rows: number }

export function sizeOf(copy: Copy): CopySize {
  const files = tablesOf(copy).flatMap(({ snapshot }) => [...snapshot.files.values()])
  const metrics = [...copy.metrics.values()].flatMap(({ snapshot }) => [...snapshot.files.values()])
  return {
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    rows: metrics.reduce((sum, file) => sum + statisticsOf(file).rows, 0),
  }
}

/** Says that files are not those of a copy: a table must not come among them. */
async function refuseOthers(store: Store): Promise<void> {
  const tables = [BRANDS, ...METRICS].map(({ name }) => `${name}/`)
  const others = [...(await store.list('')).keys()].filter(
    (name) => !IGNORED.test(name) && !tables.includes(name),
  )
  if (others.length === 0) return
  const { location } = store
  throw new UsageError(
    `${location} has no copy, but other files: ${listOf(others.sort(), 3)}. Use a new one, such as ${location}/copy.`,
  )
}

/** What can be in a folder before the first copy: a report, and what a system or its tools put there. */
const IGNORED = /^(\.|report\.html$|lost\+found\/$)/
