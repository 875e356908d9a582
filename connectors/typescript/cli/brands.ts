import { ByteWriter } from 'hyparquet-writer'
import type { Brand, ExportApi } from '../src/index.ts'
import { BrandsMoved, CommandError, UsageError } from './errors.ts'
import { sha256, sha256OfFile } from './hash.ts'
import type { Base } from './manifest.ts'
import { type Row, writeParquet } from './parquet.ts'
import { brandsPath } from './paths.ts'
import { findFile } from './state.ts'
import type { FileState } from './store.ts'
import { BRANDS } from './streams.ts'
import { listOf } from './text.ts'

/** The brands that the key reads, and their digest. */
export type ListedBrands = { readonly listed: readonly Brand[]; readonly brandsDigest: string }

/** How often the brands are listed before the work is left to the next run. */
const MOST_LISTS = 5

/** Runs work with the brands that the key reads. Lists them and runs it again when it throws `BrandsMoved`. */
export async function withBrands<Result>(
  api: ExportApi,
  work: (brands: ListedBrands) => Promise<Result>,
): Promise<Result> {
  for (let lists = 1; ; lists += 1) {
    const { rows: listed, brandsDigest } = await api.brands.page()
    if (brandsDigest === null) throw new CommandError(NO_DIGEST)
    try {
      return await work({ listed, brandsDigest })
    } catch (error) {
      if (!(error instanceof BrandsMoved) || lists === MOST_LISTS) throw error
    }
  }
}

const NO_DIGEST = 'The response lacks X-Brands-Digest. Connect to the service without what removes headers.'

/**
 * Returns the brands with these ids or names, all when they are undefined. Throws `UsageError` for one that the key does
 * not read, and for a name of several brands.
 */
export function selectBrands(
  listed: readonly Brand[],
  wanted: readonly string[] | undefined,
): readonly Brand[] {
  const found = wanted?.map((text) => findBrand(listed, text.toLowerCase(), text))
  return found === undefined ? listed : listed.filter((brand) => found.includes(brand))
}

function findBrand(listed: readonly Brand[], lower: string, text: string): Brand {
  const hasName = ({ name, displayName }: Brand) =>
    [name, displayName].some((each) => each.toLowerCase() === lower)
  const byId = listed.filter(({ id }) => id === lower)
  const found = byId.length > 0 ? byId : listed.filter(hasName)
  const [brand] = found
  if (brand !== undefined && found.length === 1) return brand
  const choice = brand === undefined ? listed : found
  const names = choice.map(({ id, name }) => `${name} (${id})`)
  throw new UsageError(
    brand === undefined
      ? `The key does not read brand ${text}. It reads ${listOf(names, MOST_LISTED) || 'no brand'}.`
      : `${found.length} brands have the name ${text}. Use an id: ${listOf(names, MOST_LISTED)}.`,
  )
}

const MOST_LISTED = 20

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
