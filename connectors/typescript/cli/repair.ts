import { requireCopy } from './copy.ts'
import { sync } from './sync.ts'
import type { Verification } from './verify.ts'

/**
 * Lists all days of the scope of a copy, and fetches what differs again. Days that the plan does not reach stay as they are.
 * Throws as `sync` does.
 */
export async function repair({ full, ...options }: Verification): Promise<void> {
  await requireCopy(options.store)
  await sync({ ...options, check: full ? 'rows' : 'hash', isFull: true }, undefined)
}
