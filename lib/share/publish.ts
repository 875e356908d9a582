import type { RunStatement } from '../../drizzle/db/refresh.ts'
import { PLANS } from '../access/plans.ts'
import { type Bucket, objectName } from './bucket.ts'
import { type Columns, createStager, LIMITS, type Limits, type RowSet, type UnpublishedSet } from './stage.ts'
import { read, text } from './statement.ts'

/** Days that versions and their objects are kept. */
export const KEEP_DAYS = 30

const DELETES_AT_ONCE = 1000

/** The days before today that the limited plans read. */
const LOOKBACK_DAYS = Math.max(...Object.values(PLANS).map(({ lookbackDays }) => lookbackDays ?? 0))

export type PublishOptions = {
  readonly run: RunStatement
  readonly bucket: Pick<Bucket, 'put' | 'delete'>
  readonly limits?: Limits
  /** Whether to write past months as one set each. The first version always has them. */
  readonly compact: boolean
  /** Whether the run is over, before its next statement. */
  readonly isOver?: () => boolean
  /** Called with the number of sets that each step wrote. */
  readonly onStep?: (sets: number) => void
  /** Called when an object is written, with its bytes. */
  readonly onObject?: (bytes: number) => void
}

/** What `daily.read_unpublished` returns. */
type Unpublished = {
  readonly columns: Columns
  readonly is_empty: boolean
  readonly after: string
  readonly brands: readonly CompleteBrand[]
  readonly more: boolean
  readonly sets: readonly UnpublishedSet[]
}

/** A brand whose unpublished sets are all staged. `own` is the set of its own row, if that has changed. */
type CompleteBrand = {
  readonly brand_id: string
  readonly base: string
  readonly cut: string
  readonly own: string | null
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
  const { stageSets, stageParts } = createStager({ run, bucket, limits, onObject })
  let columns: Columns = {}

  /** Stages the changed sets of brand after brand, and commits the brands that are complete. */
  async function commitChanges(): Promise<{ version: number | null; isFirst: boolean; isComplete: boolean }> {
    const brands: CompleteBrand[] = []
    let after = ''
    let isFirst = true
    let isComplete = false
    while (!isComplete && !isOver()) {
      const found: Unpublished = await read(run, 'daily.read_unpublished($1, $2, $3)', [
        ...[after, limits.sets, limits.bytes],
      ])
      columns = found.columns
      isFirst = found.is_empty
      const own = await stageSets(columns, found.sets)
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

  /** Stages some months. Returns whether it staged any. */
  async function stageMonths(): Promise<boolean> {
    let staged = 0
    for (const month of await read<RowSet[]>(run, 'daily.uncompacted($1)', [LOOKBACK_DAYS])) {
      if (isOver()) break
      if ((await stageParts(columns, month)) !== null) staged += 1
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
