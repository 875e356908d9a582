import { isDeepStrictEqual } from 'node:util'
import { type AsyncBuffer, parquetMetadataAsync } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { bufferOf, readParquet, startParquet } from '../../../lib/share/parquet.ts'
import { digestText, rowNumber } from '../../../site/reference/digest.ts'
import type { MetricTable } from './copy.ts'
import type { AddFile } from './delta/log.ts'
import { CommandError, isSystemError, StoreError } from './errors.ts'
import { dayKey, daysOf, eachDay, proofOf, statsOf } from './files.ts'
import { sha256OfFile } from './hash.ts'

/** How closely files are looked at: by their size, by their hash, or by all rows. */
export type Check = 'size' | 'hash' | 'rows'

/**
 * Says how a file of a table is not what the log describes; empty when it is. Reads no file whose hash is another: a damaged
 * one can keep the decoder busy for ever. Throws `CommandError` for a file of another program.
 */
export async function inspectFile(table: MetricTable, file: AddFile, check: Check): Promise<string> {
  const { store, name, listed } = table
  if (file.tags?.days === undefined)
    throw new CommandError(
      `Another program has written ${store.location}/${name}/${file.path}. Restore the version before, or delete ${name} and run sync.`,
    )
  const found = listed.get(file.path)
  if (found === undefined) return 'The file is missing.'
  if (found.size < 0) return 'It is no file.'
  if (found.size !== file.size) return ALTERED
  if (check === 'size') return ''
  const content = await store.open(`${name}/${file.path}`)
  if ((await sha256OfFile(content)) !== file.tags.sha256) return ALTERED
  if (check === 'hash') return ''
  try {
    await requireColumns(content, table)
    const days = await readDays(content, table)
    const isDescribed = isDeepStrictEqual(days, proofsOf(file)) && file.stats === statsOf(daysOf(file))
    return isDescribed ? '' : 'Its rows are not those that the log describes.'
  } catch (error) {
    // An outage must not cost the file.
    if (error instanceof StoreError || isSystemError(error)) throw error
    return `The file cannot be read. ${error instanceof Error ? error.message : error}.`
  }
}

const ALTERED = 'The file is not the one that sync wrote.'

/** Throws for a file whose columns have other types than those of the table. */
async function requireColumns(content: AsyncBuffer, { columns }: MetricTable): Promise<void> {
  const writer = new ByteWriter()
  startParquet(writer, columns).finish()
  const expected = await typesOf(bufferOf(writer.getBytes()))
  for (const [name, type] of await typesOf(content))
    if (expected.get(name) !== type) throw new Error(`It has another column ${name} than the table`)
}

async function typesOf(content: AsyncBuffer): Promise<Map<string, string>> {
  const { schema } = await parquetMetadataAsync(content)
  // Other programs name it for each INT64.
  const annotation = (type: string | undefined) => (type === 'INT_64' ? undefined : type)
  return new Map(
    schema.slice(1).map(({ name, type, converted_type }) => [name, `${type} ${annotation(converted_type)}`]),
  )
}

/** Returns the proofs of the days that the log describes, by `<brand>/<date>`. */
const proofsOf = (file: AddFile): Map<string, string> =>
  new Map([...eachDay(daysOf(file))].map(({ brandId, date, proof }) => [dayKey(brandId, date), proof]))

/** Returns the proofs of the days of a file's rows. */
async function readDays(
  content: AsyncBuffer,
  { columns, stream }: MetricTable,
): Promise<Map<string, string>> {
  const sums = new Map<string, { rows: number; digest: bigint }>()
  for await (const row of readParquet(content, columns)) {
    const day = dayKey(String(row.brand_id), String(row.date))
    const { rows, digest } = sums.get(day) ?? { rows: 0, digest: 0n }
    sums.set(day, { rows: rows + 1, digest: digest ^ rowNumber(row, stream.sent) })
  }
  const proofs = [...sums].map(
    ([day, { rows, digest }]) => [day, proofOf({ rows, digest: digestText(digest) })] as const,
  )
  return new Map(proofs)
}
