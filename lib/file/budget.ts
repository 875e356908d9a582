import type { RequestContext } from '../request/context.ts'
import { PAGE_SIZE } from '../rows/size.ts'

/** The most tokens that are taken at once: what a full part of a file costs, and what a refill brings. */
const STEP = 5

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Returns a function that takes what a file of a number of rows costs in all: a token for each started page, from the bucket
 * of the client's files. It waits for refills, and up to a second longer, so that two files do not return together, and then
 * asks for half as many, so that several files share a refill. It ends when the client has left. After Redis failed, the
 * rest is not counted: an unavailable Redis must not delay an export.
 */
export function fileBudget(
  { consumeRows, budget }: Pick<RequestContext['var'], 'consumeRows' | 'budget'>,
  left: AbortSignal,
) {
  let taken = 0
  let most = STEP
  let isAvailable = budget !== null
  return async (rows: number): Promise<void> => {
    const cost = Math.ceil(rows / PAGE_SIZE)
    while (isAvailable && taken < cost && !left.aborted) {
      const tokens = Math.min(most, cost - taken)
      const counted = await consumeRows(tokens)
      if (counted === null) isAvailable = false
      else if (counted.allowed) {
        taken += tokens
        most = STEP
      } else {
        most = Math.ceil(tokens / 2)
        await sleep((counted.refillSeconds + Math.random()) * 1000)
      }
    }
  }
}
