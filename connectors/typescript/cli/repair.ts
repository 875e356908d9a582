import { keepDays } from './keep-days.ts'
import { latestState, MANIFEST, readBase } from './manifest.ts'
import { isOwn } from './paths.ts'
import { type BrandCopy, readCopy, type Scope, writeState } from './state.ts'
import { sync } from './sync.ts'
import { type BrandFile, type Verification, verify } from './verify.ts'

/**
 * Fetches what differs from the service again, and deletes Parquet files in the folders of the endpoints that sync did
 * not write. Days that the plan does not reach stay as they are. Throws as `sync` does.
 */
export async function repair(verification: Verification): Promise<void> {
  const { api, store, progress } = verification
  const readable = new Set((await api.brands()).map(({ id }) => id))
  const files = new Map<string, BrandFile[]>()
  const unknown: string[] = []
  for await (const { path, file } of verify(verification)) {
    if (file !== undefined) files.set(file.brandId, [...(files.get(file.brandId) ?? []), file])
    else unknown.push(path)
  }
  // The manifest can lack a brand.
  for (const path of unknown) {
    const [, brandId] = /\/brand=([^/]+)/.exec(path) ?? []
    if (brandId !== undefined && !files.has(brandId)) files.set(brandId, [])
  }
  const scopes = new Map<string, Scope>()
  await store.exclusively(async () => {
    // The next sync writes the manifest and the brands again, and removes what has the name of a file of its own.
    await store.remove(unknown.filter((path) => path !== MANIFEST && !isOwn(path)))
    const base = await readBase(store)
    for (const [brandId, different] of files) {
      const copy = await readCopy(base, brandId, latestState(base, brandId))
      for (const file of different) await forget(copy, file)
      scopes.set(brandId, copy.state.scope)
    }
  })
  for (const [brandId, scope] of scopes)
    if (readable.has(brandId)) await sync({ api, store, progress, fromDate: undefined, ...scope }, [brandId])
  // Writes the file of the brands, and the manifest.
  await sync({ api, store, progress, fromDate: undefined }, [])
}

/** Makes the next sync fetch the days of a file that the plan reaches. */
async function forget(copy: BrandCopy, { name, fromDate }: BrandFile): Promise<void> {
  if (fromDate === null) return
  if (name in copy.state.files) return keepDays(copy, name, fromDate)
  copy.state.token = null
  await writeState(copy)
}
