import { selectBrands, startingOver } from './brands.ts'
import { listTogether } from './changes.ts'
import { openCopy } from './copy.ts'
import { coverageOf } from './coverage.ts'
import { planFetches } from './fetch-days.ts'
import { listChanges, type Sync, startBrand } from './sync.ts'
import { counted } from './text.ts'
import { pagesOf } from './windows.ts'

/** Reports the windows that a sync would fetch, and returns the number of their rows. Writes nothing. */
export const dryRun = (options: Sync, wanted: readonly string[] | undefined): Promise<number> =>
  startingOver(options.api, async ({ listed, brandsDigest }) => {
    const copy = await openCopy(options.store)
    // A sync fetches the days of lost files again.
    for (const { listed: found, snapshot } of copy.metrics.values())
      for (const { path, size } of snapshot.files.values())
        if (found.get(path)?.size !== size) snapshot.files.delete(path)
    const brands = selectBrands(listed, wanted).map((brand) => startBrand(options, coverageOf(copy), brand))
    const together = await listTogether({ ...options, brandsDigest }, brands)
    let total = 0
    for (const brand of brands) {
      const changes = await listChanges(options, brand, together)
      for (const { table, windows } of planFetches({ ...options, copy }, brand, changes)) {
        const { endpoint } = table.stream
        for (const { from, to, rows } of windows) {
          const requests = pagesOf(rows)
          const message = `${brand.name}: ${endpoint} from ${from} to ${to}, ${counted(rows, 'row')}, ${counted(requests, 'request')}`
          total += rows
          options.progress.notice('would_fetch', message, {
            brand: brand.id,
            endpoint,
            from,
            to,
            rows,
            requests,
          })
        }
      }
    }
    return total
  })
