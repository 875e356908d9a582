import * as z from 'zod/mini'
import type { RunStatement } from '../../drizzle/db/refresh.ts'
import { type Bucket, objectName } from './bucket.ts'
import { Batch, Ids, Lease, Part, type SharedObject, Version } from './results.ts'
import { type ObjectBucket, type Written, writeObject } from './write-object.ts'

/** Days that versions and their objects are kept. */
const KEEP_DAYS = 30

const DELETES_AT_ONCE = 1000

/** A Worker has at most six connections at once. */
const PUTS_AT_ONCE = 6

/** Failures in a row after which a run ends: the bucket is unavailable, or the lease is lost. */
const MOST_FAILURES = 20

/** Rows of a third or month with which it is written alone: a Worker has 128 MB. */
const ROWS_ALONE = 5_000

/** What one statement reads. The bytes are of rows as JSON. */
const LIMITS = { brands: 40, sets: 300, rows: 30_000, bytes: 4_000_000 }

export type PublishOptions = {
  readonly run: RunStatement
  readonly bucket: ObjectBucket & Pick<Bucket, 'delete'>
  /** Who publishes, as others are told. */
  readonly holder: string
  readonly limits?: typeof LIMITS
  /** Whether the run is over, before its next statement. */
  readonly isOver?: () => boolean
}

/** Thrown while another publisher works. */
export class BusyError extends Error {
  readonly holder: string

  constructor({ holder, until }: z.infer<typeof Lease>) {
    super(`Another publisher works: ${holder}. Its lease ends at ${until}, unless it goes on.`)
    this.holder = holder
  }
}

/** Thrown for a large day that changed while its parts were read. The next run reads it again. */
class ChangedError extends Error {}

/** What a run did. */
export type Run = {
  /** The versions that it committed. */
  readonly versions: number[]
  /** Whether it saw every brand with a change, and every third and month that was due, and wrote what it saw. */
  isComplete: boolean
  /** Why brands could not be read, or objects not be written or deleted. They follow in the next run. */
  readonly failures: unknown[]
}

/**
 * Publishes what changed: writes the due sets of brand after brand as immutable objects, commits the brands that are
 * complete, and deletes what no version names. A run that ends early, or is killed, loses nothing: the next one continues
 * with what is staged. Throws {@link BusyError} while another publisher works.
 */
export async function publish(options: PublishOptions): Promise<Run> {
  const { run, holder, isOver = () => false } = options
  const lease = await read(run, Lease, 'daily.take_lease($1)', [holder])
  if (lease.number === null) throw new BusyError(lease)
  const number = String(lease.number)
  const done: Run = { versions: [], isComplete: false, failures: [] }
  const { publishDue, commitFirst, deleteExpired, hasWaiting } = createPublisher(options, number, done)
  try {
    const hasAllDays = await publishDue('days')
    // The first version has every brand.
    if (hasAllDays && done.failures.length === 0 && !hasWaiting()) await commitFirst()
    if (!isOver()) await deleteExpired()
    done.isComplete = hasAllDays && (await publishDue('periods')) && !hasWaiting()
    return done
  } finally {
    // Else the lease ends by itself.
    await run('select daily.release_lease($1)::text', [number]).catch(() => {})
  }
}

function createPublisher(
  { run, bucket, limits = LIMITS, isOver = () => false }: PublishOptions,
  lease: string,
  { versions, failures }: Run,
) {
  let failuresInARow = 0
  /** Whether a brand waits for the next run, because a large day of it changed. */
  let hasWaiting = false
  const fail = (error: unknown) => {
    failures.push(error)
    failuresInARow += 1
  }

  /** Publishes the changed days, or the thirds and months, of every brand where they are due. Returns whether it did. */
  async function publishDue(kind: 'days' | 'periods'): Promise<boolean> {
    const periods = String(kind === 'periods')
    const readBatch = kind === 'days' ? readDays : readPeriods
    let queue = await read(run, Ids, 'daily.due_brands($1, $2)', [lease, periods])
    let size = limits.brands
    while (queue.length > 0) {
      if (isOver()) return false
      const ids = queue.slice(0, size)
      let batch: z.infer<typeof Batch>
      try {
        batch = await readBatch(`{${ids}}`)
      } catch (error) {
        // A brand that cannot be read, which may take long, is found and passed over.
        if (ids.length === 1) fail(error)
        if (failuresInARow >= MOST_FAILURES) return false
        queue = ids.length === 1 ? queue.slice(1) : queue
        size = 1
        continue
      }
      const { brands } = batch
      const written = await writeObjects(batch)
      await addVersion('daily.commit_batch($1, $2, $3, $4)', [
        ...[lease, periods, JSON.stringify(written), JSON.stringify(brands)],
      ])
      if (failuresInARow >= MOST_FAILURES) return false
      const complete = new Set(brands.map(({ brand_id }) => brand_id))
      const writtenIds = new Set(written.map(({ id }) => id))
      const failed = batch.objects.flatMap(({ id, brand_id }) => (writtenIds.has(id) ? [] : brand_id))
      // A brand that is not complete continues after the others, unless some of it could not be written.
      const unfinished = ids.filter((id) => !complete.has(id) && !failed.includes(id))
      queue = [...queue.slice(ids.length), ...unfinished]
      // Periods of all brands are in one order.
      if (kind === 'days')
        size = complete.size === ids.length ? Math.min(2 * size, limits.brands) : Math.max(1, complete.size)
    }
    return true
  }

  const readDays = (brands: string) =>
    read(run, Batch, 'daily.read_batch($1, $2, $3, $4, $5)', [
      ...[lease, brands, String(limits.sets), String(limits.rows), String(limits.bytes)],
    ])

  const readPeriods = (brands: string) =>
    read(run, Batch, 'daily.read_periods($1, $2, $3)', [lease, brands, String(limits.sets)])

  const readPart = async (id: string, part: number) => {
    const values = [lease, id, String(part), String(limits.bytes)]
    const rows = await read(run, Part, 'daily.read_part($1, $2, $3, $4)', values)
    if (rows === null) throw new ChangedError()
    return rows
  }

  const addVersion = async (call: string, params: readonly string[]) => {
    const version = await read(run, Version, call, params)
    if (version !== null) versions.push(version)
  }

  /** Writes objects; adds what fails to `failures`. */
  async function writeObjects({ objects, columns }: z.infer<typeof Batch>): Promise<readonly Written[]> {
    const written: Written[] = []
    /** Returns false when the rows have changed. */
    const write = async (object: SharedObject): Promise<boolean> => {
      if (failuresInARow >= MOST_FAILURES) return true
      try {
        written.push(await writeObject(object, { columns: columns[object.metric] ?? [], bucket, readPart }))
        failuresInARow = 0
      } catch (error) {
        if (error instanceof ChangedError) {
          hasWaiting = true
          return false
        }
        fail(error)
      }
      return true
    }
    const isLarge = (object: SharedObject) =>
      'parts' in object ? object.parts.includes(null) : object.rows > ROWS_ALONE
    const waiting = objects.filter((object) => !isLarge(object)).values()
    const lane = async () => {
      for (const object of waiting) await write(object)
    }
    await Promise.all(Array.from({ length: PUTS_AT_ONCE }, lane))
    // Of days, they are objects of one.
    for (const object of objects.filter(isLarge)) if (!(await write(object))) break
    return written
  }

  /** Deletes the objects that no version names, and forgets them. */
  async function deleteExpired(): Promise<void> {
    let ids: readonly string[] = []
    try {
      do {
        const values = [lease, String(KEEP_DAYS), `{${ids}}`, String(DELETES_AT_ONCE)]
        ids = await read(run, Ids, 'daily.expire($1, $2, $3, $4)', values)
        if (ids.length > 0) await bucket.delete(ids.map(objectName))
      } while (ids.length > 0 && !isOver())
    } catch (error) {
      failures.push(error)
    }
  }

  return {
    publishDue,
    commitFirst: () => addVersion('daily.commit_first($1)', [lease]),
    deleteExpired,
    hasWaiting: () => hasWaiting,
  }
}

/** Runs a function that returns JSON. */
async function read<Schema extends z.ZodMiniType>(
  run: RunStatement,
  schema: Schema,
  call: string,
  params: readonly string[],
): Promise<z.infer<Schema>> {
  const row = await run(`select (${call})::text as value`, params)
  return z.parse(schema, JSON.parse(row?.value ?? 'null'))
}
