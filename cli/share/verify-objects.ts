import type { Client } from 'pg'
import { objectName } from '../../lib/share/bucket.ts'
import { bufferOf, type Column, type Row, readParquet } from '../../lib/share/parquet.ts'
import { readObject } from '../../lib/share/write-object.ts'
import { digestText, rowNumber } from '../../site/reference/digest.ts'
import { createBar } from '../progress-bar.ts'
import type { CommandBucket } from './s3-bucket.ts'

/** An object that differs from the tables, or that the bucket lacks; or a day that has no object, and thus no id. */
export type WrongObject = {
  readonly id: string | null
  readonly name: string
  readonly brandId: string
  readonly reason: string
}

/** The objects of a set, and what their rows must be. */
type ObjectSet = {
  readonly metric: string
  readonly brandId: string
  readonly ids: readonly string[]
  readonly bytes: readonly number[]
  readonly columns: readonly Column[]
  /** Whether the latest version names it. */
  readonly isCurrent: boolean
  /** The rows and digest of its days; null when one has changed since. */
  readonly stored: { readonly rows: number; readonly digest: string } | null
  /** A brand's row; null when it has changed since. */
  readonly brand: object | null
  /** Its place among the sets. */
  readonly place: readonly string[]
}

const SETS_AT_ONCE = 6

/** Sets that one statement reads. */
const PAGE = 1000

/**
 * Compares every object of the latest version with the tables, by the rows and the digest of its days, and looks for the
 * objects of earlier versions. Days that have changed since they were published are left out. Yields the objects that differ;
 * calls `onObject` after each object.
 */
async function* verifyObjects(
  client: Client,
  bucket: CommandBucket,
  onObject: (total: number) => void,
): AsyncGenerator<WrongObject> {
  const { rows: counts } = await client.query<{ total: number }>(
    'select count(*)::int as total from daily.objects where added is not null',
  )
  const total = counts[0]?.total ?? 0
  let after: readonly string[] = ['', '00000000-0000-0000-0000-000000000000', '', '-infinity', '0']
  for (;;) {
    const sets = await readSets(client, after)
    if (sets.length === 0) return
    after = sets.at(-1)?.place ?? after
    for (let index = 0; index < sets.length; index += SETS_AT_ONCE) {
      const some = sets.slice(index, index + SETS_AT_ONCE)
      const found = await Promise.all(some.map((set) => verifySet(bucket, set)))
      for (const wrong of found) if (wrong !== null) yield wrong
      for (const { ids } of some) for (const _ of ids) onObject(total)
    }
  }
}

/** Verifies as {@link verifyObjects} does, prints each object that differs, and returns them. */
export async function findWrongObjects(client: Client, bucket: CommandBucket): Promise<WrongObject[]> {
  const bar = createBar('{bar} {value}/{total} objects compared')
  const wrong: WrongObject[] = []
  bar?.start(0, 0)
  const objects = verifyObjects(client, bucket, (total) => {
    bar?.setTotal(total)
    bar?.increment()
  })
  try {
    for await (const object of objects) wrong.push(object)
    wrong.push(...(await findMissing(client)))
  } finally {
    bar?.stop()
  }
  for (const { name, reason } of wrong) console.log(`${name}: ${reason}`)
  return wrong
}

export const countObjects = (count: number): string => (count === 1 ? '1 object' : `${count} objects`)

/** Reads the next sets. */
async function readSets(client: Client, after: readonly string[]): Promise<ObjectSet[]> {
  const { rows } = await client.query<ObjectSet>(
    `with page as (
       select
         metric, brand_id, period, first, added, max(last) as last, min(digest) as digest, bool_and(removed is null) as is_current,
         array_agg(id order by id) as ids, array_agg(bytes order by id) as bytes
       from daily.objects
       where added is not null and (metric, brand_id, period, first, added) > ($1, $2::uuid, $3, $4::date, $5::integer)
       group by metric, brand_id, period, first, added
       order by metric, brand_id, period, first, added
       limit ${PAGE}
     )
     select
       metric, brand_id as "brandId", ids, bytes, columns, is_current as "isCurrent", array[metric, brand_id::text, period, first::text, added::text] as place,
       (select json_build_object(
          'rows', sum(rows),
          'digest', lpad(to_hex(bit_xor(('x' || changes.digest)::bit(60)::bigint)), 15, '0'))
        from generate_series(0, case when period <> 'brand' then last - first end) as days
        join daily.changes on changes.endpoint = shared_tables.endpoint
          and changes.date = first + days and changes.brand_id = page.brand_id
        having bool_and(changes.changed_at <= published_brands.since)) as stored,
       (select fields || jsonb_build_object('brand_id', brand_id)
        from daily.brand_rows
        where period = 'brand' and brand_rows.brand_id = page.brand_id and brand_rows.digest = page.digest) as brand
     from page
     join daily.shared_tables using (metric)
     join daily.published_brands using (brand_id)
     order by metric, brand_id, period, first, added`,
    [...after],
  )
  return rows
}

/** Returns the published days that have no object. */
async function findMissing(client: Client): Promise<WrongObject[]> {
  const { rows } = await client.query<WrongObject>(
    `select null as id, metric || ' of ' || brand_id || ', ' || date as name, brand_id as "brandId", 'it has no object' as reason
     from daily.changes
     join daily.row_schemas using (endpoint)
     join daily.published_brands as published using (brand_id)
     where changes.rows > 0 and changes.changed_at <= published.since and not exists (
       select from daily.current_objects as objects
       where (objects.metric, objects.brand_id, objects.period, objects.first) = (row_schemas.metric, brand_id, 'day', date))`,
  )
  return rows
}

async function verifySet(bucket: CommandBucket, set: ObjectSet): Promise<WrongObject | null> {
  const wrong = (id: string, reason: string) => ({ id, name: objectName(id), brandId: set.brandId, reason })
  const found = { rows: 0, digest: 0n }
  let row: Row = {}
  for (const [index, id] of set.ids.entries()) {
    if (!set.isCurrent) {
      if (await bucket.exists(objectName(id))) continue
      return wrong(id, 'its object is missing')
    }
    const content = await readObject(bucket, id)
    if (content === null) return wrong(id, 'its object is missing')
    if (content.length !== set.bytes[index])
      return wrong(id, `it has ${content.length} bytes instead of ${set.bytes[index]}`)
    try {
      for await (row of readParquet(bufferOf(content), set.columns)) {
        found.digest ^= numberOf(row, set.columns)
        found.rows += 1
      }
    } catch {
      return wrong(id, 'it is no Parquet file')
    }
  }
  const [id = ''] = set.ids
  const differs =
    set.isCurrent &&
    ((set.stored !== null &&
      (set.stored.rows !== found.rows || set.stored.digest !== digestText(found.digest))) ||
      (set.brand !== null && sorted(row) !== sorted(set.brand)))
  return differs ? wrong(id, `its rows are not those of ${set.metric}`) : null
}

function numberOf(row: Row, columns: readonly Column[]): bigint {
  const sent = columns
    .filter(({ name }) => name !== 'brand_id')
    .map(({ name, type }) => ({
      field: name,
      type: type === 'double' ? ('number' as const) : ('text' as const),
    }))
  return rowNumber(row, sent)
}

const sorted = (object: object): string => JSON.stringify(Object.entries(object).toSorted())
