import { isDeepStrictEqual } from 'node:util'
import type { ChangedDay } from '../src/index.ts'
import { CommandError } from './errors.ts'
import { sha256OfFile } from './hash.ts'
import { type Base, latestState } from './manifest.ts'
import type { FileState, Store, Stored } from './store.ts'

/** A month's file, and what it contains: days from `from` on, with all changes through `through`. */
export type MonthState = FileState & {
  readonly from: string
  readonly through: string
  /** The number of its rows; undefined when the state was derived from the files. */
  readonly rows?: number
  /** Name of its columns. */
  readonly schema: string
}

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
  scope: Scope
}

/** A part of a brand's rows. */
export type Scope = {
  readonly fromDate?: string | undefined
  readonly endpoints?: readonly string[] | undefined
  readonly toDate?: string | undefined
}

/** The files of a brand in a store. */
export type BrandCopy = {
  readonly store: Store
  readonly brandId: string
  readonly state: BrandState
  /** Where its state is stored, if it is. */
  path: string | undefined
  /** Whether that is its latest state. */
  isStored: boolean
  /** Where this run stores it. */
  readonly ownPath: string
  /** How often a run has fetched days in vain, by what the service listed. */
  readonly attempts: Map<string, number>
}

/**
 * Returns where the copy of a brand stands, by the state at a path. A state that is missing is derived from the files.
 * Throws `CommandError` for a damaged state.
 */
export async function readCopy(base: Base, brandId: string, path: string | undefined): Promise<BrandCopy> {
  const { store, ownStates } = base
  const stored = path === undefined ? undefined : await readState(store, path)
  const state = stored ?? (await deriveState(base, brandId))
  const isStored = stored !== undefined
  return {
    store,
    brandId,
    state,
    path,
    isStored,
    ownPath: `${ownStates}${brandId}.json`,
    attempts: new Map(),
  }
}

/** Returns a state that has the files of the manifest, so that days that the plan does not reach stay. */
async function deriveState(base: Base, brandId: string): Promise<BrandState> {
  const { store, manifest, listed } = base
  const files: Record<string, MonthState> = {}
  for (const path of Object.values(manifest.files).flat()) {
    const [, endpoint, brand, month] = /^endpoint=(.*)\/brand=(.*)\/(\d{4}-\d\d)-/.exec(path) ?? []
    const stored = listed.get(path)
    if (brand !== brandId || stored === undefined || stored.size < 0) continue
    const known = { path, ...stored, sha256: await sha256OfFile(await store.open(path)) }
    files[`${endpoint}/${month}`] = { ...known, ...NOTHING_KNOWN, schema: '' }
  }
  return { token: null, fromDate: '', files, unproven: {}, scope: {} }
}

/** Of a file whose listed days are all fetched again: later than every day, and before every change. */
export const NOTHING_KNOWN = { from: '9999-12-31', through: '' }

/** Returns a state; undefined when it is missing. Throws `CommandError` for a damaged one. */
export async function readState(store: Store, path: string): Promise<BrandState | undefined> {
  const stored = await store.readText(path)
  if (stored === undefined) return undefined
  try {
    const state = JSON.parse(stored.text)
    if (typeof state.fromDate !== 'string' || typeof state.files !== 'object') throw new TypeError()
    return state
  } catch (cause) {
    const advice = 'Delete it: the next sync fetches the files of this brand again.'
    throw new CommandError(`${store.location}/${path} is damaged. ${advice}`, { cause })
  }
}

/** Whether a part of a brand's rows has those of another. */
function includes({ endpoints, toDate = LAST_DAY }: Scope, other: Scope): boolean {
  const hasEndpoints =
    endpoints === undefined || (other.endpoints?.every((name) => endpoints.includes(name)) ?? false)
  return hasEndpoints && toDate >= (other.toDate ?? LAST_DAY)
}

const LAST_DAY = '9999-12-31'

/** Reads where the copy of a brand stands. Forgets files that are not those that sync wrote, so that all days are listed. */
export async function openCopy(base: Base, brandId: string, scope: Scope = {}): Promise<BrandCopy> {
  const copy = await readCopy(base, brandId, latestState(base, brandId))
  const { state } = copy
  const before = structuredClone(state)
  const { fromDate, endpoints, toDate } = scope
  if (!includes(state.scope, { endpoints, toDate })) state.token = null
  // Without undefined members, as it is stored.
  state.scope = JSON.parse(JSON.stringify({ fromDate, endpoints, toDate }))
  for (const [file, known] of Object.entries(state.files)) {
    const found = await findFile(base, known)
    if (found !== undefined) state.files[file] = { ...known, ...found }
    else {
      delete state.files[file]
      state.token = null
    }
  }
  if (!isDeepStrictEqual(state, before)) copy.isStored = false
  return copy
}

/** Returns a file if it is the known one; a copied file has another version. Undefined when it is another one or missing. */
export async function findFile({ store, listed }: Base, known: FileState): Promise<Stored | undefined> {
  const stored = listed.get(known.path)
  if (stored?.size !== known.size) return undefined
  if (stored.version === known.version) return stored
  return (await sha256OfFile(await store.open(known.path))) === known.sha256 ? stored : undefined
}

/** Stores where the copy of a brand stands. Returns the path. */
export async function writeState(copy: BrandCopy): Promise<string> {
  await copy.store.writeText(copy.ownPath, `${JSON.stringify(copy.state, null, 1)}\n`)
  copy.path = copy.ownPath
  copy.isStored = true
  return copy.path
}

/** Returns the brands that a copy has files of. Throws `CommandError` when there are none. */
export function requireBrands({ store, manifest }: Base): string[] {
  const brandIds = Object.keys(manifest.states)
  if (brandIds.length > 0) return brandIds
  throw new CommandError(`${store.location} has no copy. Run sync first.`)
}
