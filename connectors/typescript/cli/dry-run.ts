import { selectBrands, withBrands } from './brands.ts'
import { listTogether, pagesOf } from './changes.ts'
import { readBase } from './manifest.ts'
import { openCopy } from './state.ts'
import type { Sync } from './sync.ts'
import { listChanges, planWindows } from './sync-brand.ts'
import { counted } from './text.ts'

/** Reports the windows that a sync would fetch, and returns the number of their rows. Writes nothing. */
export const dryRun = (sync: Sync, wanted: readonly string[] | undefined): Promise<number> =>
  withBrands(sync.api, async ({ listed, brandsDigest }) => {
    const brands = selectBrands(listed, wanted)
    const base = await readBase(sync.store)
    const copies = await Promise.all(brands.map(({ id }) => openCopy(base, id, sync)))
    const together = await listTogether({ ...sync, brandsDigest }, copies)
    let total = 0
    for (const [index, copy] of copies.entries()) {
      const plans = await planWindows(sync, copy, await listChanges(sync, copy, together))
      for (const { stream, windows } of plans) {
        for (const { from, to, rows } of windows) {
          const requests = pagesOf(rows)
          const message = `${brands[index]?.name}: ${stream.endpoint} from ${from} to ${to}, ${counted(rows, 'row')}, ${counted(requests, 'request')}`
          total += rows
          const where = { brand: copy.brandId, endpoint: stream.endpoint, from, to }
          sync.progress.notice('would_fetch', message, { ...where, rows, requests })
        }
      }
    }
    return total
  })
