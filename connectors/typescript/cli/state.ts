import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { replaceFile } from './folder.ts'
import { UsageError } from './usage-error.ts'

/** What a month's file contains: days from `from` on, with all changes through `through`. */
export type MonthState = { readonly sha256: string; readonly from: string; readonly through: string }

/** Where the copy of a brand stands. */
export type BrandState = {
  /** The greatest `changed_at` whose changes all files contain. Null lists every day again. */
  token: string | null
  /** The first day that the plan reached when the token was stored. */
  fromDate: string
  /** By `<endpoint>/<YYYY-MM>`. */
  readonly files: Record<string, MonthState>
}

/** The files of a brand in a folder. */
export type BrandCopy = { readonly folder: string; readonly brandId: string; readonly state: BrandState }

type Brand = Omit<BrandCopy, 'state'>

/** Path of a month's file, from its name in the state. */
export function monthPath({ folder, brandId }: Brand, file: string): string {
  const [endpoint, month] = file.split('/')
  return join(folder, `endpoint=${endpoint}`, `brand=${brandId}`, `month=${month}.parquet`)
}

const stateFolder = (folder: string): string => join(folder, '_state')

const statePath = ({ folder, brandId }: Brand): string => join(stateFolder(folder), `${brandId}.json`)

/** Returns where the copy of a brand stands. Throws `UsageError` for a damaged state. */
export async function readCopy(brand: Brand): Promise<BrandCopy> {
  const path = statePath(brand)
  if (!existsSync(path)) return { ...brand, state: { token: null, fromDate: '', files: {} } }
  return { ...brand, state: parse(await readFile(path, 'utf8'), path) }
}

function parse(text: string, path: string): BrandState {
  try {
    const state = JSON.parse(text)
    if (typeof state.fromDate !== 'string' || typeof state.files !== 'object') throw new TypeError(text)
    return state
  } catch (cause) {
    throw new UsageError(`${path} is damaged. Restore it from a backup, or sync to a new folder.`, { cause })
  }
}

/** Stores where the copy of a brand stands. */
export const writeState = ({ state, ...brand }: BrandCopy): Promise<void> =>
  replaceFile(statePath(brand), async (path) => {
    await writeFile(path, `${JSON.stringify(state, null, 1)}\n`)
    return true
  })

/** Returns the brands that the folder has files of. Throws `UsageError` when there are none. */
export async function requireBrands(folder: string): Promise<string[]> {
  const brandIds = await storedBrands(folder)
  if (brandIds.length > 0) return brandIds
  throw new UsageError(`${folder} has no copy. Run sync first.`)
}

/** Returns the brands that the folder has files of. */
export async function storedBrands(folder: string): Promise<string[]> {
  if (!existsSync(stateFolder(folder))) return []
  const files = await readdir(stateFolder(folder))
  return files.filter((file) => file.endsWith('.json')).map((file) => basename(file, '.json'))
}
