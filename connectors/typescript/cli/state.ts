import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { ChangedDay } from '../src/index.ts'
import { CommandError } from './errors.ts'
import { replaceFile, sha256 } from './folder.ts'

/** A month's file, and what it contains: days from `from` on, with all changes through `through`. */
export type MonthState = FileState & {
  readonly from: string
  readonly through: string
  /** Name of its columns. */
  readonly schema: string
}

/** A file as it was written. */
type FileState = { readonly sha256: string; readonly size: number; readonly mtimeMs: number }

/** Where the copy of a brand stands. */
export type BrandState = {
  /** The greatest `changed_at` whose changes all files contain. Null lists every day again. */
  token: string | null
  /** The first day that the plan reached when the token was stored. */
  fromDate: string
  /** By `<endpoint>/<YYYY-MM>`. */
  readonly files: Record<string, MonthState>
  /** Days whose rows were not those of the list when they were fetched, by `<endpoint>/<date>`. */
  readonly unproven: Record<string, ChangedDay>
  /** What the token stands for: all endpoints and days, unless it says less. */
  scope?: Scope
}

/** A part of a brand's rows. */
export type Scope = {
  readonly fromDate?: string | undefined
  readonly endpoints?: readonly string[] | undefined
  readonly toDate?: string | undefined
}

/** The files of a brand in a folder. */
export type BrandCopy = Brand & {
  readonly state: BrandState
  /** How often a run has fetched days in vain, by what the service listed. */
  readonly attempts: Map<string, number>
}

type Brand = { readonly folder: string; readonly brandId: string }

/** Path of a month's file, from its name in the state. */
export function monthPath({ folder, brandId }: Brand, file: string): string {
  const [endpoint, month] = file.split('/')
  return join(folder, `endpoint=${endpoint}`, `brand=${brandId}`, `month=${month}.parquet`)
}

const stateFolder = (folder: string): string => join(folder, '_state')

const statePath = ({ folder, brandId }: Brand): string => join(stateFolder(folder), `${brandId}.json`)

/** Returns where the copy of a brand stands. Throws `CommandError` for a damaged state. */
export async function readCopy(brand: Brand): Promise<BrandCopy> {
  const path = statePath(brand)
  const state = existsSync(path)
    ? parse(await readState(path), path)
    : { token: null, fromDate: '', files: {}, unproven: {} }
  return { ...brand, state, attempts: new Map() }
}

const readState = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((cause) => {
    throw new CommandError(`${path} cannot be read: ${cause.message}.`, { cause })
  })

/** Whether a part of a brand's rows has those of another. */
function includes({ endpoints, toDate = LAST_DAY }: Scope, other: Scope): boolean {
  const hasEndpoints =
    endpoints === undefined || (other.endpoints?.every((name) => endpoints.includes(name)) ?? false)
  return hasEndpoints && toDate >= (other.toDate ?? LAST_DAY)
}

const LAST_DAY = '9999-12-31'

/** Reads where the copy of a brand stands. Forgets files that are not those that sync wrote, so that all days are listed. */
export async function openCopy(
  brand: Brand,
  { fromDate, endpoints, toDate }: Scope = {},
): Promise<BrandCopy> {
  const copy = await readCopy(brand)
  const { files, scope = {} } = copy.state
  if (!includes(scope, { endpoints, toDate })) copy.state.token = null
  copy.state.scope = { fromDate, endpoints, toDate }
  for (const [file, known] of Object.entries(files)) {
    const found = await fileState(monthPath(brand, file), known)
    if (found !== undefined) files[file] = { ...known, ...found }
    else {
      delete files[file]
      copy.state.token = null
    }
  }
  return copy
}

/** Returns a file if it is the known one; a copied file has another time. Undefined when it is another one or missing. */
async function fileState(path: string, known: FileState): Promise<FileState | undefined> {
  if (!existsSync(path)) return undefined
  const { size, mtimeMs } = await stat(path)
  const isSame = size === known.size && (mtimeMs === known.mtimeMs || (await sha256(path)) === known.sha256)
  return isSame ? { ...known, mtimeMs } : undefined
}

/** Returns what identifies a file that was written. */
export async function describeFile(path: string): Promise<FileState> {
  const { size, mtimeMs } = await stat(path)
  return { size, mtimeMs, sha256: (await sha256(path)) ?? '' }
}

function parse(text: string, path: string): BrandState {
  try {
    const state = JSON.parse(text)
    if (typeof state.fromDate !== 'string' || typeof state.files !== 'object') throw new TypeError(text)
    return { unproven: {}, ...state }
  } catch (cause) {
    throw new CommandError(
      `${path} is damaged. Delete it: the next sync fetches the files of this brand again.`,
      {
        cause,
      },
    )
  }
}

/** Stores where the copy of a brand stands. */
export const writeState = ({ state, ...brand }: Brand & { readonly state: BrandState }): Promise<void> =>
  replaceFile(statePath(brand), async (path) => {
    await writeFile(path, `${JSON.stringify(state, null, 1)}\n`)
    return true
  })

/** Returns the brands that the folder has files of. Throws `CommandError` when there are none. */
export async function requireBrands(folder: string): Promise<string[]> {
  const brandIds = await storedBrands(folder)
  if (brandIds.length > 0) return brandIds
  throw new CommandError(`${folder} has no copy. Run sync first.`)
}

/** Returns the brands that the folder has files of. */
export async function storedBrands(folder: string): Promise<string[]> {
  if (!existsSync(stateFolder(folder))) return []
  const files = await readdir(stateFolder(folder))
  return files.filter((file) => file.endsWith('.json')).map((file) => basename(file, '.json'))
}
