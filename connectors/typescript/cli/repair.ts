import { existsSync } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { keepDays } from './keep-days.ts'
import { withLock } from './lock.ts'
import { monthPath, readCopy, writeState } from './state.ts'
import { sync } from './sync.ts'
import { type BrandFile, type Verification, verify } from './verify.ts'

/**
 * Fetches what differs from the service again, and deletes files that sync did not write. Days that the plan does not
 * reach stay as they are. Throws as `sync` does.
 */
export async function repair(verification: Verification): Promise<void> {
  const { api, folder, progress } = verification
  const readable = new Set((await api.brands()).map(({ id }) => id))
  const files = new Map<string, BrandFile>()
  const unknown = new Set<string>()
  for await (const { path, file } of verify(verification)) {
    if (file === undefined) unknown.add(path)
    else files.set(path, file)
  }
  // A brand whose state is missing has files that are unknown.
  const brandIds = new Set([...unknown].map((path) => /[\\/]brand=([^\\/]+)/.exec(path)?.[1] ?? ''))
  await withLock(folder, async () => {
    for (const path of unknown) if (!files.has(path)) await rm(path, { recursive: true, force: true })
    for (const file of files.values()) await forget(folder, file)
  })
  for (const { brandId } of files.values()) brandIds.add(brandId)
  for (const brandId of brandIds) {
    if (!readable.has(brandId)) continue
    const { state } = await readCopy({ folder, brandId })
    await sync({ api, folder, progress, fromDate: undefined, ...state.scope }, [brandId])
  }
  // Writes the file of the brands.
  await sync({ api, folder, progress, fromDate: undefined }, [])
}

/** Makes the next sync fetch the days of a file that the plan reaches. */
async function forget(folder: string, { brandId, name, fromDate }: BrandFile): Promise<void> {
  if (fromDate === null) return
  const copy = await readCopy({ folder, brandId })
  const path = monthPath(copy, name)
  if (existsSync(path) && (await lstat(path)).isDirectory()) await rm(path, { recursive: true })
  if (name in copy.state.files) return keepDays(copy, name, fromDate)
  copy.state.token = null
  await writeState(copy)
}
