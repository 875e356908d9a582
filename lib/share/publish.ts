import type { RunStatement } from '../../drizzle/db/refresh.ts'
import { PLANS } from '../access/plans.ts'
import { type Bucket, objectName } from './bucket.ts'
import { type Column, type ParquetFile, startParquet, type Values } from './parquet.ts'

/** Days that versions and their objects are kept. */
export const KEEP_DAYS = 30

/** What is in memory at once, in a Worker of 128 MB. */
const LIMITS = {
  /** The most sets that one statement reads, and about the most bytes of their rows as JSON. */
  sets: 200,
  bytes: 4_000_000,
  /** Bytes of an object after which the rest of its set goes into another one. */
  objectBytes: 8_000_000,
}

/** A Worker has at most six connections at once. */
const PUTS_AT_ONCE = 6

const DELETES_AT_ONCE = 1000

/** The days before today that the limited plans read. */
const LOOKBACK_DAYS = Math.max(...Object.values(PLANS).map(({ lookbackDays }) => lookbackDays ?? 0))

export type PublishOptions = {
  readonly run: RunStatement
  readonly bucket: Pick<Bucket, 'put' | 'delete'>
  readonly limits?: typeof LIMITS
  /** Whether to write past months as one set each. The first version always has them. */
  readonly compact: boolean
  /** Whether the run is over, before its next statement. */
  readonly isOver?: () => boolean
  /** Called with the number of sets that each step wrote. */
  readonly onStep?: (sets: number) => void
  /** Called when an object is written, with its bytes. */
  readonly onObject?: (bytes: number) => void
}

/** The rows of a brand and table of some days, or a brand's own row, where the days are null. */
type RowSet = {
  readonly metric: string
  readonly brand_id: string
  readonly first: string | null
  readonly last: string | null
}

/** What `daily.read_unpublished` returns. */
type Unpublished = {
  readonly columns: Readonly<Record<string, readonly Column[]>>
  readonly is_empty: boolean
  readonly after: string
  readonly brands: readonly CompleteBrand[]
  readonly more: boolean
  readonly sets: readonly {
    readonly set: Omit<RowSet, 'first' | 'last'> & {
      readonly date: string | null
      readonly stamp: string
      readonly digest: string | null
    }
    readonly rows: readonly Values[]
    readonly more: boolean
  }[]
}

/** A brand whose unpublished sets are all staged. `own` is the set of its own row, if that has changed. */
type CompleteBrand = {
  readonly brand_id: string
  readonly base: string
  readonly cut: string
  readonly own: string | null
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

/**
 * Publishes what changed since the last version: stages the changed days as immutable objects, commits them as the next
 * version, and deletes what no version names. A run that ends early, or is killed, loses nothing: the next one continues
 * with what is staged. Returns the versions that it committed, and whether it saw every brand.
 */
export async function publish(options: PublishOptions): Promise<{ versions: number[]; isComplete: boolean }> {
  const { commitChanges, stageMonths } = createPublisher(options)
  const { version, isFirst, isComplete } = await commitChanges()
  const versions = [version]
  while (isComplete && (options.compact || isFirst) && (await stageMonths())) {
    const next = await commitChanges()
    versions.push(next.version)
    // The months have changed again.
    if (next.version === null) break
  }
  await deleteExpired(options)
  return { versions: versions.filter((version) => version !== null), isComplete }
}

function createPublisher({
  run,
  bucket,
  limits = LIMITS,
  isOver = () => false,
  onStep = () => {},
  onObject = () => {},
}: PublishOptions) {
  let columns: Unpublished['columns'] = {}
  const stage = (files: readonly object[]) => text(run, 'select daily.stage($1)::text as value', [files])
  const complete = (files: readonly Written[]) =>
    text(run, 'select daily.complete($1)::text as value', [files])

  async function put(id: string, file: ParquetFile): Promise<number> {
    const bytes = file.finish()
    await bucket.put(objectName(id), bytes)
    onObject(bytes.length)
    return bytes.length
  }

  const start = (metric: string): ParquetFile => {
    const found = columns[metric]
    if (found === undefined) throw new TypeError(`No table ${metric}`)
    return startParquet(found)
  }

  /** Stages the changed sets of brand after brand, and commits the brands that are complete. */
  async function commitChanges(): Promise<{ version: number | null; isFirst: boolean; isComplete: boolean }> {
    const brands: CompleteBrand[] = []
    let after = ''
    let isFirst = false
    let isComplete = false
    while (!isComplete && !isOver()) {
      const found: Unpublished = await read(run, 'daily.read_unpublished($1, $2, $3)', [
        ...[after, limits.sets, limits.bytes],
      ])
      columns = found.columns
      isFirst = found.is_empty
      const own = await stageSets(found.sets)
      onStep(found.sets.length)
      // A day that changed while it was read: its brand is read again.
      if (own === null) continue
      for (const brand of found.brands) brands.push({ ...brand, own: own.get(brand.brand_id) ?? brand.own })
      after = found.after
      isComplete = !found.more
    }
    // A part of the brands, as the first version, would look like all of them.
    if (isFirst && !isComplete) return { version: null, isFirst, isComplete }
    const version = await text(run, 'select daily.commit_version($1, $2)::text as value', [brands, KEEP_DAYS])
    return { version: version === null ? null : Number(version), isFirst, isComplete }
  }

  /**
   * Returns the staged sets of brands' own rows, by brand; null when not all sets are staged as they were listed, since one
   * that is read in parts can change meanwhile.
   */
  async function stageSets(sets: Unpublished['sets']): Promise<ReadonlyMap<string, string> | null> {
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
        const file = start(metric)
        file.add(rows)
        written.push({ id, rows: rows.length, bytes: await put(id, file), stamp, digest })
      },
    )
    await complete(written)
    let isStaged = true
    for (const { set } of files.filter(({ more }) => more)) {
      if ((await stageParts(set)) !== set.stamp) isStaged = false
    }
    if (!isStaged) return null
    return new Map(files.flatMap(({ id, set }) => (set.first === null ? [[set.brand_id, id]] : [])))
  }

  /** Stages a set whose rows are read in parts. Returns its stamp; null when they changed in between. */
  async function stageParts({ metric, brand_id, first, last }: RowSet): Promise<string | null> {
    const set_id = crypto.randomUUID()
    const written: Omit<Written, 'stamp'>[] = []
    let stamp: string | null = null
    let skip = 0
    for (let more = true; more; ) {
      const file = start(metric)
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

  /** Stages some months. Returns whether it staged any. */
  async function stageMonths(): Promise<boolean> {
    let staged = 0
    for (const month of await read<RowSet[]>(run, 'daily.uncompacted($1)', [LOOKBACK_DAYS])) {
      if (isOver()) break
      if ((await stageParts(month)) !== null) staged += 1
    }
    onStep(staged)
    return staged > 0
  }

  return { commitChanges, stageMonths }
}

/** Deletes the objects that no version names, then their rows. */
async function deleteExpired({ run, bucket, isOver }: PublishOptions): Promise<void> {
  while (!isOver?.()) {
    const ids = await read<string[]>(run, 'daily.expired_files($1)', [DELETES_AT_ONCE])
    if (ids.length === 0) return
    await bucket.delete(ids.map(objectName))
    await text(run, 'select daily.forget_files($1)::text as value', [`{${ids}}`])
  }
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const lane = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, lane))
}

/** Runs a statement and returns its cell `value`. Objects travel as JSON. */
async function text(run: RunStatement, sql: string, params: readonly unknown[]): Promise<string | null> {
  const row = await run(
    sql,
    params.map((param) => (param === null || typeof param === 'string' ? param : JSON.stringify(param))),
  )
  return row?.value ?? null
}

/** Runs a function that returns JSON. */
async function read<Result>(run: RunStatement, call: string, params: readonly unknown[]): Promise<Result> {
  const json = await text(run, `select ${call} as value`, params)
  return JSON.parse(json ?? 'null')
}
