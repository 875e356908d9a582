import { type Row, readParquet, startParquet } from '../../../lib/share/parquet.ts'
import type { Action, AddFile } from './delta/log.ts'
import { addition, type Table } from './delta/table.ts'
import { CommandError } from './errors.ts'
import { sha256OfFile } from './hash.ts'
import { newFile } from './store.ts'

/** The days of a file by brand and date: `<rows> <digest>`, as the service listed them. */
export type Days = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Some days of a table, and their rows. */
export type Source = { readonly days: Days; readonly rows: () => AsyncIterable<Row> | Iterable<Row> }

/** Returns what a day of a file has to be, as text. */
export const proofOf = ({ rows, digest }: { readonly rows: number; readonly digest: string }): string =>
  `${rows} ${digest}`

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000
export const toUnits = (value: unknown): number => Math.round(Number(value) * UNITS)
export const fromUnits = (units: number): number => units / UNITS

export const dayKey = (brandId: string, date: string): string => `${brandId}/${date}`

const parsed = new WeakMap<AddFile, Days>()

/** Returns the days of a file; none when sync did not write it. */
export function daysOf(file: AddFile): Days {
  const days = parsed.get(file) ?? JSON.parse(file.tags?.days ?? '{}')
  parsed.set(file, days)
  return days
}

type Day = { readonly brandId: string; readonly date: string; readonly proof: string }

/** Yields the days of a file. */
export function* eachDay(days: Days): Generator<Day> {
  for (const [brandId, dates] of Object.entries(days))
    for (const [date, proof] of Object.entries(dates)) yield { brandId, date, proof }
}

type Statistics = {
  readonly numRecords: number
  readonly minValues?: { readonly date?: string }
  readonly maxValues?: { readonly date?: string }
}

/** Returns the number of the rows of a file, and its first and last day. */
export function statisticsOf({ stats }: AddFile): { rows: number; first: string; last: string } {
  const { numRecords = 0, minValues = {}, maxValues = {} }: Partial<Statistics> = JSON.parse(stats ?? '{}')
  return { rows: numRecords, first: minValues.date ?? '', last: maxValues.date ?? '9999-12-31' }
}

/** Engines read few files of about this size faster than many. */
const FILE_BYTES = 32_000_000

/** Writes rows into new files, each with whole sources. Returns the actions that add them. */
export async function writeFiles(table: Table, sources: readonly Source[]): Promise<Action[]> {
  const left = sources.filter(({ days }) => rowsOf(days) > 0)
  const added: Action[] = []
  while (left.length > 0) {
    const days = noDays()
    const path = newFile()
    table.loose.add(path)
    const { size, sha256 } = await table.store.create(`${table.name}/${path}`, async (writer) => {
      const parquet = startParquet(writer, table.columns)
      while (writer.offset < FILE_BYTES) {
        const source = left.shift()
        if (source === undefined) break
        for await (const row of source.rows()) parquet.add(table.columns.map(({ name }) => row[name]))
        for (const day of eachDay(source.days)) addDay(days, day)
      }
      parquet.finish()
    })
    const tags = { sha256, days: JSON.stringify(days) }
    added.push(addition({ path, size, stats: statsOf(days), tags }))
  }
  return added
}

/** Without a prototype: a name in a log can be `__proto__`. */
const noDays = (): Record<string, Record<string, string>> => Object.create(null)

function addDay(days: Record<string, Record<string, string>>, { brandId, date, proof }: Day): void {
  days[brandId] ??= {}
  days[brandId][date] = proof
}

const rowsOf = (days: Days): number =>
  [...eachDay(days)].reduce((sum, { proof }) => sum + Number.parseInt(proof, 10), 0)

/** Returns the statistics of a file with these days, as its log has them. */
export function statsOf(days: Days): string {
  const dates = Object.values(days).flatMap(Object.keys).sort()
  const brands = Object.keys(days).sort()
  return JSON.stringify({
    numRecords: rowsOf(days),
    minValues: { brand_id: brands.at(0), date: dates.at(0) },
    maxValues: { brand_id: brands.at(-1), date: dates.at(-1) },
  })
}

/** Returns the days of a file for which a condition holds. Its rows throw `CommandError` when the file was altered. */
export function fileSource(
  { store, name, columns }: Table,
  file: AddFile,
  isKept: (day: string) => boolean,
): Source {
  const days = noDays()
  for (const { brandId, date, proof } of eachDay(daysOf(file)))
    if (isKept(dayKey(brandId, date))) addDay(days, { brandId, date, proof })
  async function* rows(): AsyncGenerator<Row> {
    const content = await store.open(`${name}/${file.path}`)
    if ((await sha256OfFile(content)) !== file.tags?.sha256)
      throw new CommandError(
        `${store.location}/${name}/${file.path} is not the file that sync wrote. Run verify --repair.`,
      )
    for await (const row of readParquet(content, columns))
      if (days[String(row.brand_id)]?.[String(row.date)] !== undefined) yield row
  }
  return { days, rows }
}
