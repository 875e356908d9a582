import { isDeepStrictEqual } from 'node:util'
import { CommandError, StoreError } from './errors.ts'
import { type Base, filesByEndpoint, MANIFEST, type Manifest, readBase } from './manifest.ts'
import { isOwn, uniqueId } from './paths.ts'
import { type BrandCopy, type MonthState, readCopy, readState, writeState } from './state.ts'
import type { FileState } from './store.ts'

/** What a run has done. */
export type Outcome = {
  readonly brands: FileState
  readonly current: readonly BrandCopy[]
  readonly failed: readonly BrandCopy[]
}

/** What a copy has. The number of rows is undefined when a state is damaged. */
export type CopySize = { readonly files: number; readonly bytes: number; readonly rows: number | undefined }

/**
 * Replaces the manifest, and then removes files that nothing names. Brands that failed keep the files of their last
 * sync. Returns what the copy has. Throws `CommandError` when another run has replaced the manifest.
 */
export async function commit(base: Base, outcome: Outcome): Promise<CopySize> {
  const { store, manifest } = base
  const { brands, current } = outcome
  const failed = [...outcome.failed, ...(await stoppedCopies(base, outcome))]
  const states: Record<string, string> = { ...manifest.states }
  const unfinished: Record<string, string> = { ...manifest.unfinished }
  const committed = new Set([...Object.values(states), ...Object.values(unfinished)])
  // A run at the same time can write its states again, so no commit names them.
  const statePath = (copy: BrandCopy) => {
    const { path, ownPath, isStored } = copy
    const isFixed = isStored && path !== undefined && (path === ownPath || committed.has(path))
    return isFixed ? path : writeState(copy)
  }
  for (const copy of current) {
    states[copy.brandId] = await statePath(copy)
    delete unfinished[copy.brandId]
  }
  for (const copy of failed) {
    const path = await statePath(copy)
    if (path !== states[copy.brandId]) unfinished[copy.brandId] = path
  }
  const months = await filesOf(base, states, current)
  const paths = months.map(({ path }) => path)
  const size = sizeOf([brands, ...months], months)
  const files = filesByEndpoint([brands.path, ...paths])
  const next = { files, brands, states, unfinished }
  const { id: _, replaced: before, ...previous } = manifest
  const isChanged = !isDeepStrictEqual(next, previous)
  if (!isChanged && store.isShared) return size
  const named = new Set([brands.path, ...paths, ...Object.values(states), ...Object.values(unfinished)])
  for (const { path } of await filesOf(base, unfinished, failed)) named.add(path)
  const replaced = store.isShared ? [...Object.values(manifest.files).flat(), ...committed] : []
  const kept = (isChanged ? replaced : before).filter((path) => !named.has(path))
  // Before the commit: what another run writes afterwards is not listed.
  const listed = isChanged ? await store.list() : base.listed
  if (isChanged) await replaceManifest(base, { id: uniqueId(), ...next, replaced: kept })
  for (const path of kept) named.add(path)
  await store.remove([...listed.keys()].filter((path) => isOwn(path) && !named.has(path)))
  return size
}

type NamedFile = Pick<MonthState, 'path' | 'size' | 'rows'>

const sizeOf = (files: readonly { readonly size: number }[], months: readonly NamedFile[]): CopySize => ({
  files: files.length,
  bytes: files.reduce((sum, { size }) => sum + size, 0),
  rows: months.reduce<number | undefined>(
    (sum, { rows }) => (sum === undefined || rows === undefined ? undefined : sum + rows),
    0,
  ),
})

/** Returns the copies of brands that a stopped run has begun, and this run does not have. */
async function stoppedCopies(base: Base, { current, failed }: Outcome): Promise<BrandCopy[]> {
  const has = new Set([...current, ...failed].map(({ brandId }) => brandId))
  const stopped = [...base.started].filter(([brandId]) => !has.has(brandId))
  const copies = stopped.map(([brandId, path]) => readCopy(base, brandId, path).catch(skipDamaged))
  return (await Promise.all(copies)).filter((copy) => copy !== undefined)
}

async function replaceManifest({ store, version }: Base, manifest: Manifest): Promise<void> {
  const isReplaced = await store.replaceText(MANIFEST, `${JSON.stringify(manifest, null, 1)}\n`, version)
  // The response to a successful request can be lost. Its repetition is refused.
  if (isReplaced || (await readBase(store)).manifest.id === manifest.id) return
  throw new CommandError(`Another sync has written ${store.location} meanwhile. Run sync again.`)
}

/** Returns the files of brands, by the paths of their states. The states of some are known. */
async function filesOf(
  { store, manifest, listed }: Base,
  states: Readonly<Record<string, string>>,
  known: readonly BrandCopy[],
): Promise<NamedFile[]> {
  const files = Object.entries(states).map(async ([brandId, path]) => {
    const state =
      known.find((copy) => copy.path === path)?.state ?? (await readState(store, path).catch(skipDamaged))
    if (state !== undefined) return Object.values(state.files)
    const committed = Object.values(manifest.files).flat()
    const ofBrand = committed.filter((path) => path.includes(`/brand=${brandId}/`))
    return ofBrand.map((path) => ({ path, size: listed.get(path)?.size ?? 0 }))
  })
  return (await Promise.all(files)).flat()
}

/** The state of a brand that failed can be damaged. */
function skipDamaged(error: unknown): undefined {
  if (error instanceof StoreError || !(error instanceof CommandError)) throw error
}
