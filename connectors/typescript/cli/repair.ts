import { brandsOf, requireCopy } from './copy.ts'
import { coverageOf } from './coverage.ts'
import { sync } from './sync.ts'
import type { Verification } from './verify.ts'

/**
 * Lists all days of what a copy covers, and of its other tables, and fetches what differs again. Days that the plan does not
 * reach stay as they are. Throws as `sync` does.
 */
export async function repair({ full, ...options }: Verification): Promise<void> {
  const copy = await requireCopy(options.store)
  const { fromDate, toDate, brandIds, versions } = coverageOf(copy) ?? {}
  // Also those of narrower syncs, of which files can be lost as well.
  const tables = [...copy.metrics].filter(
    ([name, { snapshot }]) => snapshot.version >= 0 || name in { ...versions },
  )
  const endpoints = versions && tables.map(([endpoint]) => endpoint)
  const readable = (await options.api.brands()).map(({ id }) => id)
  const ids = new Set([...(brandIds ?? readable), ...brandsOf(copy)])
  const check = full ? 'rows' : 'hash'
  await sync(
    { ...options, fromDate: fromDate || undefined, toDate, endpoints, check, isFull: true },
    readable.filter((id) => ids.has(id)),
  )
}
