import { parquetReadObjects } from 'hyparquet'
import type { Client } from 'pg'
import { objectName } from '../../lib/share/bucket.ts'
import type { Column } from '../../lib/share/parquet.ts'
import { digestText, rowNumber } from '../../reference/digest.ts'
import { createBar } from '../progress-bar.ts'
import type { CommandBucket } from './s3-bucket.ts'

/** A file that differs from the tables, or whose object is missing. */
export type WrongFile = { readonly id: string; readonly reason: string }

/** The files of a set, and what their rows must be. */
type FileSet = {
  readonly set_id: string
  readonly metric: string
  readonly ids: readonly string[]
  readonly bytes: readonly number[]
  readonly columns: readonly Column[]
  /** Whether the latest version names it. */
  readonly isCurrent: boolean
  /** The rows and digest of each day with rows; null when a day has changed since. */
  readonly days: readonly { readonly date: string; readonly rows: number; readonly digest: string }[] | null
  /** A brand's row; null when it has changed since. */
  readonly brand: object | null
}

/** What a day's rows in files add up to. */
type Sum = { rows: number; digest: bigint }

const SETS_AT_ONCE = 6

/** Sets that one statement reads. */
const PAGE = 1000

/**
 * Compares every file of the latest version with the tables, by the rows and digest of each of its days, and looks for the
 * objects of earlier versions. Days that have changed since they were published are left out. Yields the files that differ;
 * calls `onFile` after each file.
 */
async function* verifyFiles(
  client: Client,
  bucket: CommandBucket,
  onFile: (total: number) => void,
): AsyncGenerator<WrongFile> {
  const { rows: counts } = await client.query<{ total: number }>(
    'select count(*)::int as total from daily.files where added is not null and rows > 0',
  )
  const total = counts[0]?.total ?? 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const sets = await readSets(client, after)
    if (sets.length === 0) return
    after = sets.at(-1)?.set_id ?? after
    for (let index = 0; index < sets.length; index += SETS_AT_ONCE) {
      const some = sets.slice(index, index + SETS_AT_ONCE)
      const found = await Promise.all(some.map((set) => verifySet(bucket, set)))
      for (const wrong of found) if (wrong !== null) yield wrong
      for (const { ids } of some) for (const _ of ids) onFile(total)
    }
  }
}

/** Verifies as {@link verifyFiles} does, prints each file that differs, and returns them. */
export async function findWrongFiles(client: Client, bucket: CommandBucket): Promise<WrongFile[]> {
  const bar = createBar('{bar} {value}/{total} files compared')
  const wrong: WrongFile[] = []
  bar?.start(0, 0)
  const files = verifyFiles(client, bucket, (total) => {
    bar?.setTotal(total)
    bar?.increment()
  })
  try {
    for await (const file of files) wrong.push(file)
  } finally {
    bar?.stop()
  }
  for (const { id, reason } of wrong) console.log(`${objectName(id)}: ${reason}`)
  return wrong
}

export const countFiles = (count: number): string => (count === 1 ? '1 file' : `${count} files`)

/** Reads the next sets in the order of their ids. */
async function readSets(client: Client, after: string): Promise<FileSet[]> {
  const { rows } = await client.query<FileSet>(
    `with page as (
       select
         set_id, metric, brand_id, first, last, stamp, digest, removed is null as is_current,
         array_agg(id order by id) as ids, array_agg(bytes order by id) as bytes
       from daily.files
       where added is not null and rows > 0 and set_id > $1
       group by set_id, metric, brand_id, first, last, stamp, digest, removed
       order by set_id limit ${PAGE}
     )
     select
       set_id, metric, ids, bytes, columns, is_current as "isCurrent",
       case when stamp = daily.stamp_of(metric, brand_id, first, last) then (
         select json_agg(json_build_object('date', date, 'rows', changes.rows, 'digest', changes.digest))
         from daily.changes
         where changes.endpoint = shared_tables.endpoint and changes.brand_id = page.brand_id
           and date between first and last and changes.rows > 0
       ) end as days,
       (select fields || jsonb_build_object('brand_id', brand_id)
        from daily.own_rows
        where first is null and own_rows.brand_id = page.brand_id and own_rows.digest = page.digest) as brand
     from page join daily.shared_tables using (metric)
     order by set_id`,
    [after],
  )
  return rows
}

async function verifySet(bucket: CommandBucket, set: FileSet): Promise<WrongFile | null> {
  const sums = new Map<string, Sum>()
  let row: Row = {}
  for (const [index, id] of set.ids.entries()) {
    if (!set.isCurrent) {
      if (await bucket.exists(objectName(id))) continue
      return { id, reason: 'its object is missing' }
    }
    const content = await bucket.read(objectName(id))
    if (content === null) return { id, reason: 'its object is missing' }
    if (content.length !== set.bytes[index])
      return { id, reason: `it has ${content.length} bytes instead of ${set.bytes[index]}` }
    const rows = await parquetReadObjects({ file: content.buffer }).catch(() => null)
    if (rows === null) return { id, reason: 'it is no Parquet file' }
    for (row of rows) add(sums, row, set.columns)
  }
  const [id = ''] = set.ids
  const differs =
    set.isCurrent &&
    ((set.days !== null && daysDiffer(set.days, sums)) ||
      (set.brand !== null && sorted(row) !== sorted(set.brand)))
  return differs ? { id, reason: `its rows are not those of ${set.metric}` } : null
}

type Row = Record<string, unknown>

function add(sums: Map<string, Sum>, row: Row, columns: readonly Column[]): void {
  const day = row.date instanceof Date ? row.date.toISOString().slice(0, 10) : ''
  const { rows, digest } = sums.get(day) ?? { rows: 0, digest: 0n }
  const sent = columns
    .filter(({ name }) => name !== 'brand_id')
    .map(({ name, type }) => ({
      field: name,
      type: type === 'double' ? ('number' as const) : ('text' as const),
    }))
  sums.set(day, { rows: rows + 1, digest: digest ^ rowNumber({ ...row, date: day }, sent) })
}

const daysDiffer = (days: NonNullable<FileSet['days']>, sums: ReadonlyMap<string, Sum>): boolean =>
  days.length !== sums.size ||
  days.some(({ date, rows, digest }) => {
    const sum = sums.get(date)
    return sum?.rows !== rows || digestText(sum.digest) !== digest
  })

const sorted = (object: object): string => JSON.stringify(Object.entries(object).toSorted())
