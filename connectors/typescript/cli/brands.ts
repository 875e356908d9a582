import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Brand } from '../src/index.ts'
import { UsageError } from './errors.ts'
import { replaceFile, sha256 } from './folder.ts'
import { type Row, writeParquet } from './parquet.ts'
import { BRANDS } from './streams.ts'

export const brandsPath = (folder: string): string => join(folder, 'endpoint=brands', 'brands.parquet')

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

/** Replaces the file of the brands. */
export const writeBrands = (path: string, brands: readonly Brand[]): Promise<void> =>
  replaceFile(path, async (unfinished) => {
    await writeParquet(unfinished, BRANDS.columns, brands.map(toRow))
    return true
  })

/** Whether a file has these brands, byte for byte as sync writes them. */
export async function hasBrands(path: string, brands: readonly Brand[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'export-api-'))
  try {
    const expected = join(folder, 'brands.parquet')
    await writeBrands(expected, brands)
    return (await sha256(path)) === (await sha256(expected))
  } finally {
    await rm(folder, { recursive: true })
  }
}

const toRow = (brand: Readonly<Record<string, unknown>>): Row =>
  Object.fromEntries(BRANDS.columns.map(({ name, field }) => [name, brand[field]]))
