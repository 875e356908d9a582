import { existsSync } from 'node:fs'
import { type Changes, fetchWindows, isNeeded, listDays } from './changes.ts'
import { monthOf } from './days.ts'
import { sha256 } from './folder.ts'
import { type BrandCopy, monthPath, readCopy, writeState } from './state.ts'
import { METRICS } from './streams.ts'
import type { Sync } from './sync.ts'
import { WindowMoved, writeMonths } from './write-months.ts'

/** Brings the files of a brand up to date, until the service lists no change. */
export async function syncBrand(sync: Sync, brandId: string): Promise<void> {
  const copy = await openCopy(sync, brandId)
  while (true) {
    const changes = await listChanges(sync, copy)
    try {
      await writeChanges(sync, copy, changes)
    } catch (error) {
      if (error instanceof WindowMoved) continue
      throw error
    }
    const { token, fromDate, days } = changes
    Object.assign(copy.state, { token, fromDate })
    await writeState(copy)
    if (days.length === 0) return
  }
}

async function writeChanges(sync: Sync, copy: BrandCopy, changes: Changes): Promise<void> {
  const metrics = METRICS.map((stream) => ({
    stream,
    changes,
    windows: fetchWindows(stream.endpoint, changes, copy.state),
  }))
  for (const { rows } of metrics.flatMap(({ windows }) => windows)) sync.progress.expect(rows)
  for (const change of metrics) await writeMonths(sync, copy, change)
}

/** Reads where the copy of a brand stands. Forgets files that are missing. */
export async function openCopy({ folder }: Pick<Sync, 'folder'>, brandId: string): Promise<BrandCopy> {
  const copy = await readCopy({ folder, brandId })
  const files = Object.keys(copy.state.files)
  forget(
    copy,
    files.filter((file) => !existsSync(monthPath(copy, file))),
  )
  return copy
}

/** Lists the days to fetch. Lists all days when a file to change is not the one that the state names. */
export async function listChanges(
  { api, fromDate }: Pick<Sync, 'api' | 'fromDate'>,
  copy: BrandCopy,
): Promise<Changes> {
  const { brandId, state } = copy
  const changes = await listDays(api, { brandId, fromDate }, state)
  const unknown = await unknownFiles(copy, changes)
  if (unknown.length === 0) return changes
  forget(copy, unknown)
  return listChanges({ api, fromDate }, copy)
}

/** Makes the service list all days of these files next. */
function forget({ state }: BrandCopy, files: readonly string[]): void {
  for (const file of files) delete state.files[file]
  if (files.length > 0) state.token = null
}

/** Returns the files to change that are not those that sync wrote. */
async function unknownFiles(copy: BrandCopy, { days }: Changes): Promise<string[]> {
  const changed = days
    .filter((day) => isNeeded(copy.state, day))
    .map(({ endpoint, date }) => `${endpoint}/${monthOf(date)}`)
  const unknown: string[] = []
  for (const file of new Set(changed)) {
    const known = copy.state.files[file]
    if (known !== undefined && known.sha256 !== (await sha256(monthPath(copy, file)))) unknown.push(file)
  }
  return unknown
}
