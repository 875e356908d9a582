import type { RunStatement } from '../../drizzle/db/refresh.ts'
import { type Bucket, objectName } from './bucket.ts'
import { type Column, type ParquetFile, startParquet, type Values } from './parquet.ts'
import { read, text } from './statement.ts'

/** What is in memory at once, in a Worker of 128 MB. */
export const LIMITS = {
  /** The most sets that one statement reads, and about the most bytes of their rows as JSON. */
  sets: 200,
  bytes: 4_000_000,
  /** Bytes of an object after which the rest of its set goes into another one. */
  objectBytes: 8_000_000,
}

export type Limits = typeof LIMITS

/** A Worker has at most six connections at once. */
const PUTS_AT_ONCE = 6

/** The columns of each table. */
export type Columns = Readonly<Record<string, readonly Column[]>>

/** The rows of a brand and table of some days, or a brand's own row, where the days are null. */
export type RowSet = {
  readonly metric: string
  readonly brand_id: string
  readonly first: string | null
  readonly last: string | null
}

/** A set that is not staged, with its rows; `more` when they do not fit, and are read in parts. */
export type UnpublishedSet = {
  readonly set: Omit<RowSet, 'first' | 'last'> & {
    readonly date: string | null
    readonly stamp: string
    readonly digest: string | null
  }
  readonly rows: readonly Values[]
  readonly more: boolean
}

type Part = { readonly stamp: string | null; readonly rows: readonly Values[]; readonly more: boolean }

/** A file's row in daily.files, once its object is written. */
type Written = {
  readonly id: string
  readonly rows: number
  readonly bytes: number
  readonly stamp: string | null
  readonly digest: string | null
}

type StagerOptions = {
  readonly run: RunStatement
  readonly bucket: Pick<Bucket, 'put'>
  readonly limits: Limits
  readonly onObject: (bytes: number) => void
}

/** Returns what writes sets as objects: it lists their files before it writes them, and completes them afterwards. */
export function createStager({ run, bucket, limits, onObject }: StagerOptions) {
  const stage = (files: readonly object[]) => text(run, 'select daily.stage($1)::text as value', [files])
  const complete = (files: readonly Written[]) =>
    text(run, 'select daily.complete($1)::text as value', [files])

  async function put(id: string, file: ParquetFile): Promise<number> {
    const bytes = file.finish()
    await bucket.put(objectName(id), bytes)
    onObject(bytes.length)
    return bytes.length
  }

  const start = (columns: Columns, metric: string): ParquetFile => {
    const found = columns[metric]
    if (found === undefined) throw new TypeError(`No table ${metric}`)
    return startParquet(found)
  }

  /**
   * Returns the staged sets of brands' own rows, by brand; null when not all sets are staged as they were listed, since one
   * that is read in parts can change meanwhile.
   */
  async function stageSets(
    columns: Columns,
    sets: readonly UnpublishedSet[],
  ): Promise<ReadonlyMap<string, string> | null> {
    if (sets.length === 0) return new Map()
    const files = sets.map(({ set: { date, ...set }, rows, more }) => ({
      id: crypto.randomUUID(),
      set: { ...set, first: date, last: date },
      rows,
      more,
    }))
    const small = files.filter(({ more }) => !more)
    await stage(
      small.map(({ id, set, rows }) => ({
        id,
        set_id: id,
        ...set,
        // A day that has emptied has no object to wait for.
        stamp: rows.length === 0 ? set.stamp : null,
      })),
    )
    const written: Written[] = []
    await inLanes(
      small.filter(({ rows }) => rows.length > 0),
      async ({ id, set: { metric, stamp, digest }, rows }) => {
        const file = start(columns, metric)
        file.add(rows)
        written.push({ id, rows: rows.length, bytes: await put(id, file), stamp, digest })
      },
    )
    await complete(written)
    let isStaged = true
    for (const { set } of files.filter(({ more }) => more)) {
      if ((await stageParts(columns, set)) !== set.stamp) isStaged = false
    }
    if (!isStaged) return null
    return new Map(files.flatMap(({ id, set }) => (set.first === null ? [[set.brand_id, id]] : [])))
  }

  /** Stages a set whose rows are read in parts. Returns its stamp; null when they changed in between. */
  async function stageParts(
    columns: Columns,
    { metric, brand_id, first, last }: RowSet,
  ): Promise<string | null> {
    const set_id = crypto.randomUUID()
    const written: Omit<Written, 'stamp'>[] = []
    let stamp: string | null = null
    let skip = 0
    for (let more = true; more; ) {
      const file = start(columns, metric)
      let rows = 0
      while (more && file.size() < limits.objectBytes) {
        const part = await read<Part>(run, 'daily.read_part($1, $2, $3, $4, $5, $6)', [
          ...[metric, brand_id, first, last, skip],
          limits.bytes,
        ])
        stamp ??= part.stamp
        if (part.stamp === null || part.stamp !== stamp) return null
        if (part.rows.length > 0) file.add(part.rows)
        skip += part.rows.length
        rows += part.rows.length
        more = part.more
      }
      if (rows === 0) return null
      const id = crypto.randomUUID()
      await stage([{ id, set_id, metric, brand_id, first, last }])
      written.push({ id, rows, bytes: await put(id, file), digest: null })
    }
    await complete(written.map((file) => ({ ...file, stamp })))
    return stamp
  }

  return { stageSets, stageParts }
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const lane = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, lane))
}
