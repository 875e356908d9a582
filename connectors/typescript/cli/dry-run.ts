import { startingOver } from './brands.ts'
import { listTogether } from './changes.ts'
import { openCopy } from './copy.ts'
import { scopeOf, startsOf } from './coverage.ts'
import { planFetches } from './fetch-days.ts'
import { listAgain, type Sync } from './sync.ts'
import { counted } from './text.ts'
import { pagesOf } from './windows.ts'

/** Reports the windows that a sync would fetch, and returns the number of their rows. Writes nothing. */
export const dryRun = (options: Sync, wanted: readonly string[] | undefined): Promise<number> =>
  startingOver(options.api, async ({ listed, brandsDigest }) => {
    const copy = await openCopy(options.store)
    const scope = scopeOf(copy, listed, { ...options, wanted })
    // A sync fetches the days of lost files again.
    for (const { listed: found, snapshot } of copy.metrics.values())
      for (const { path, size } of snapshot.files.values())
        if (found.get(path)?.size !== size) snapshot.files.delete(path)
    const run = { ...options, copy, scope, received: null }
    const brands = startsOf(run, listed)
    const together = await listTogether({ ...options, ...scope, brandsDigest }, brands)
    let total = 0
    for (const brand of brands) {
      const changes = together.get(brand.id) ?? (await listAgain(run, brand))
      for (const { table, windows } of planFetches(run, brand, changes)) {
        const { endpoint } = table.stream
        for (const { from, to, rows } of windows) {
          const requests = pagesOf(rows)
          const message = `${brand.name}: ${endpoint} from ${from} to ${to}, ${counted(rows, 'row')}, ${counted(requests, 'request')}`
          total += rows
          const fields = { brand: brand.id, endpoint, from, to, rows, requests }
          options.progress.notice('would_fetch', message, fields)
        }
      }
    }
    return total
  })
