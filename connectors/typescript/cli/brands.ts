import { ByteWriter } from 'hyparquet-writer'
import type { Brand } from '../src/index.ts'
import { UsageError } from './errors.ts'
import { sha256, sha256OfFile } from './hash.ts'
import type { Base } from './manifest.ts'
import { type Row, writeParquet } from './parquet.ts'
import { brandsPath } from './paths.ts'
import { findFile } from './state.ts'
import type { FileState } from './store.ts'
import { BRANDS } from './streams.ts'

/** Returns the brands with these ids, all without ids. Throws `UsageError` for an id that the key does not read. */
export function selectBrands(
  listed: readonly Brand[],
  brandIds: readonly string[] | undefined,
): readonly Brand[] {
  const unknown = brandIds?.find((brandId) => listed.every(({ id }) => id !== brandId.toLowerCase()))
  if (unknown !== undefined) throw new UsageError(`The key does not read brand ${unknown}.`)
  return brandIds === undefined
    ? listed
    : listed.filter(({ id }) => brandIds.some((brandId) => brandId.toLowerCase() === id))
}

/** Writes the file of the brands, unless it has them. */
export async function writeBrands(base: Base, brands: readonly Brand[]): Promise<FileState> {
  const bytes = await encode(brands)
  const known = base.manifest.brands
  if (known !== null && known.sha256 === sha256(bytes)) {
    const found = await findFile(base, known)
    if (found !== undefined) return { ...known, ...found }
  }
  const written = await base.store.create(brandsPath(), async (writer) => {
    writer.appendBytes(bytes)
    await writer.finish()
    return 1
  })
  if (written === undefined) throw new TypeError('The file of the brands was not written.')
  return written
}

/** Whether the file of the brands has these, byte for byte as sync writes them. */
export async function hasBrands(
  { store, manifest, listed }: Base,
  brands: readonly Brand[],
): Promise<boolean> {
  const { path } = manifest.brands ?? {}
  if (path === undefined || !listed.has(path)) return false
  return (await sha256OfFile(await store.open(path))) === sha256(await encode(brands))
}

async function encode(brands: readonly Brand[]): Promise<Uint8Array> {
  const writer = new ByteWriter()
  await writeParquet(writer, BRANDS.columns, brands.map(toRow))
  return writer.getBytes()
}

const toRow = (brand: Readonly<Record<string, unknown>>): Row =>
  Object.fromEntries(BRANDS.columns.map(({ name, field }) => [name, brand[field]]))
