import { ByteWriter } from 'hyparquet-writer'
import { type Row, startParquet } from '../../../lib/share/parquet.ts'
import type { Brand, ExportApi } from '../src/index.ts'
import type { Coverage } from './coverage.ts'
import type { Action } from './delta/log.ts'
import { addition, removal, type Table } from './delta/table.ts'
import { CommandError, MovedError } from './errors.ts'
import { sha256, sha256OfFile } from './hash.ts'
import type { Check } from './inspect.ts'
import { newFile } from './store.ts'
import { BRANDS } from './streams.ts'
import { isUuid } from './text.ts'

/** The brands that the key reads, and their digest. */
export type ListedBrands = { readonly listed: readonly Brand[]; readonly brandsDigest: string }

/** How often work begins before it is left to the next run. */
const MOST_STARTS = 5

/**
 * Runs work with the brands that the key reads. Begins again when these change meanwhile, or the copy does by another sync:
 * what it has committed stays.
 */
export async function startingOver<Result>(
  api: ExportApi,
  work: (brands: ListedBrands) => Promise<Result>,
): Promise<Result> {
  for (let starts = 1; ; starts += 1) {
    const { rows: listed, brandsDigest } = await api.brands.page()
    if (brandsDigest === null) throw new CommandError(NO_DIGEST)
    const unknown = listed.find(({ id }) => !isUuid(id))
    if (unknown !== undefined) throw new CommandError(`The service lists a brand whose id is ${unknown.id}.`)
    try {
      return await work({ listed, brandsDigest })
    } catch (error) {
      if (!(error instanceof MovedError) || starts === MOST_STARTS) throw error
    }
  }
}

const NO_DIGEST = 'The response lacks X-Brands-Digest. Connect to the service without what removes headers.'

/** Returns the actions after which a table has these brands, and a coverage; none when it has them. */
export async function brandsActions(
  table: Table,
  brands: readonly Brand[],
  { coverage, check = 'size' }: { readonly coverage: Coverage; readonly check?: Check | undefined },
): Promise<readonly Action[]> {
  const { store, name, snapshot } = table
  const [known] = snapshot.files.values()
  const tags = { ...known?.tags, coverage: JSON.stringify(coverage) }
  if (known !== undefined && (await hasBrands(table, brands, check)))
    return known.tags?.coverage === tags.coverage ? [] : [{ add: { ...known, tags, dataChange: false } }]
  const path = newFile()
  table.loose.add(path)
  const { size, sha256 } = await store.create(`${name}/${path}`, async (writer) => {
    writer.appendBytes(encode(table, brands))
    await writer.finish()
  })
  table.listed.set(path, { size, modified: 0 })
  const stats = JSON.stringify({ numRecords: brands.length })
  const add = addition({ path, size, stats, tags: { ...tags, sha256 } })
  return [...[...snapshot.files.values()].map(removal), add]
}

/** Whether a table has these brands, in a file as sync wrote it. */
export async function hasBrands(table: Table, brands: readonly Brand[], check: Check): Promise<boolean> {
  const { store, name, snapshot, listed } = table
  const [file, ...others] = snapshot.files.values()
  if (file === undefined || others.length > 0 || listed.get(file.path)?.size !== file.size) return false
  const hash = sha256(encode(table, brands))
  if (file.tags?.sha256 !== hash || check === 'size') return file.tags?.sha256 === hash
  return (await sha256OfFile(await store.open(`${name}/${file.path}`))) === hash
}

/** Returns the file of some brands. The same ones have the same bytes. */
function encode({ columns }: Table, rows: readonly Row[]): Uint8Array {
  const writer = new ByteWriter()
  const parquet = startParquet(writer, columns)
  for (const brand of rows) parquet.add(BRANDS.columns.map(({ field }) => brand[field]))
  parquet.finish()
  return writer.getBytes()
}
