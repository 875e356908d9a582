import { ByteWriter } from 'hyparquet-writer'
import retry from 'p-retry'
import { type Bucket, objectName } from './bucket.ts'
import { bufferOf, type Column, readParquet, startParquet } from './parquet.ts'
import type { SharedObject } from './results.ts'

/** An object in the bucket. */
export type Written = { readonly id: string; readonly rows: number; readonly bytes: number }

/** Where objects are written to, and read from. */
export type ObjectBucket = Pick<Bucket, 'put'> & {
  /** Returns an object's bytes; null when there is none. */
  readonly read: (key: string) => Promise<Uint8Array<ArrayBuffer> | null>
}

type Context = {
  readonly columns: readonly Column[]
  readonly bucket: ObjectBucket
  /** Reads a part of an object's rows. */
  readonly readPart: (id: string, part: number) => Promise<readonly unknown[][]>
}

const RETRIES = { retries: 3, minTimeout: 250, randomize: true }

/** Writes an object. Repeats what the bucket does not take or return; throws its error in the end. */
export async function writeObject(object: SharedObject, context: Context): Promise<Written> {
  const { id } = object
  const { columns, bucket } = context
  const writer = new ByteWriter()
  const file = startParquet(writer, columns)
  let rows = 0
  for await (const values of 'parts' in object ? partsOf(object, context) : sourcesOf(object, context)) {
    file.add(values)
    rows += 1
  }
  file.finish()
  const content = writer.getBytes()
  await retry(() => bucket.put(objectName(id), content), RETRIES)
  return { id, rows, bytes: content.length }
}

/** Returns an object's bytes; null when there is none. Repeats reads that fail; throws the bucket's error in the end. */
export const readObject = (bucket: ObjectBucket, id: string): Promise<Uint8Array<ArrayBuffer> | null> =>
  retry(() => bucket.read(objectName(id)), RETRIES)

async function* partsOf(
  { id, brand_id, first_part, parts }: Extract<SharedObject, { parts: unknown }>,
  { readPart }: Context,
) {
  for (const [index, part] of parts.entries()) {
    const rows = part ?? (await readPart(id, first_part + index))
    for (const row of rows) yield [brand_id, ...row]
  }
}

async function* sourcesOf(
  { sources }: Extract<SharedObject, { sources: unknown }>,
  { columns, bucket }: Context,
) {
  for (const id of sources) {
    const content = await readObject(bucket, id)
    if (content === null)
      throw new Error(`The object ${objectName(id)} is missing. Run npm run share:publish.`)
    for await (const row of readParquet(bufferOf(content), columns))
      yield columns.map(({ name }) => row[name])
  }
}
