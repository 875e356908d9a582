import { selectBrands } from './brands.ts'
import { fetchWindows } from './changes.ts'
import { METRICS } from './streams.ts'
import type { Sync } from './sync.ts'
import { listChanges, openCopy } from './sync-brand.ts'

const PAGE = 1000

/** Reports the windows that a sync would fetch, and returns the number of their rows. Writes nothing. */
export async function dryRun(sync: Sync, brandIds: readonly string[] | undefined): Promise<number> {
  const { api, progress } = sync
  let total = 0
  for (const { id, name } of selectBrands(await api.brands(), brandIds)) {
    const copy = await openCopy(sync, id)
    const changes = await listChanges(sync, copy)
    for (const { endpoint } of METRICS) {
      for (const { from, to, rows } of fetchWindows(endpoint, changes, copy.state)) {
        const requests = Math.ceil(rows / PAGE)
        const message = `${name}: ${endpoint} from ${from} to ${to}, ${rows} rows, ${requests} requests`
        total += rows
        progress.notice('would_fetch', message, { brand: id, endpoint, from, to, rows, requests })
      }
    }
  }
  return total
}
