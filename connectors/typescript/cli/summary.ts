import { describeCauses } from './causes.ts'
import type { Synced } from './sync.ts'
import { counted, formatBytes, formatMinute, formatNumber, formatSeconds } from './text.ts'
import type { Compared } from './verify.ts'

type Run = {
  readonly location: string
  readonly requests: number
  readonly seconds: number
  /** What comes next, in lines. */
  readonly advice: readonly string[]
}

/** Returns what a sync has done, in lines. */
export function describeSync(
  { changed, causes, isWhole, asOf, size }: Synced,
  { location, requests, seconds, advice }: Run,
): string[] {
  const has = `${location.replace(/\/*$/, '/')} has ${counted(size.rows, 'row')} in ${counted(size.files, 'file')}, ${formatBytes(size.bytes)}.`
  const copied = `Brought ${counted(changed, 'brand')} up to date in ${counted(requests, 'request')}, ${formatSeconds(seconds)}.`
  const equal = isWhole ? 'It equals the service' : 'What it covers equals the service'
  const time = asOf === null ? '' : ` as of ${formatMinute(asOf)}`
  return [
    ...(causes.size > 0 ? [describeCauses(causes)] : []),
    ...(changed === 0 ? [`Nothing changed. ${has}`] : [copied, has]),
    `${equal}${time}.`,
    ...advice,
  ]
}

/** Returns how engines read a table in a folder, in lines. */
export const describeReading = (table: string): string[] => [
  `DuckDB: duckdb -c "from delta_scan('${table}')"`,
  `pandas: import deltalake as d; d.DeltaTable('${table}').to_pandas()`,
]

/** Returns what was compared with the service, and did not differ, in lines. */
export function describeEqual(
  { files, rows, days }: Compared,
  { full }: { readonly full: boolean },
): string[] {
  const listed = `${formatNumber(days)} listed days`
  return full
    ? [
        `Equal: ${counted(rows, 'row')} in ${counted(files, 'file')}.`,
        `The rows, sums and digests of ${listed} are those of the service.`,
      ]
    : [
        `Equal: ${counted(files, 'file')}, as sync wrote them.`,
        `The log has the rows and digests of all ${listed}. --full reads the files.`,
      ]
}
