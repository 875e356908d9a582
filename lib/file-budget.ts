import { PAGE_SIZE } from './page.ts'
import type { Consume } from './rate-limit.ts'
import { sleep } from './sleep.ts'

/** Requests that a file leaves to the client's other requests. */
const RESERVE = 5

/** The most requests consumed at once: what a statement of a file costs. */
const STEP = 5

/**
 * Returns a function that consumes what a file of a number of rows costs in all: one request for each started page,
 * of which the file's own request is the first. It waits for refills of the budget. While the counter is away, it does
 * not wait: a slow counter must not fail an export.
 */
export function fileBudget(consume: Consume, clock: () => Date): (rows: number) => Promise<void> {
  let consumed = 1
  /** What was left after the last consumption, and the time (milliseconds since 1970) of the next refill. */
  let left = { requests: Number.POSITIVE_INFINITY, refill: 0 }

  async function take(requests: number): Promise<void> {
    for (;;) {
      const wait = left.refill - clock().getTime()
      // Asking first could leave less than the reserve to another request for a moment.
      if (left.requests < requests + RESERVE && wait > 0) await sleep(wait)
      const budget = await consume(requests)
      if (budget === null) return
      const { allowed, remaining, refillSeconds } = budget
      const refill = clock().getTime() + refillSeconds * 1000
      left = { requests: allowed ? remaining : 0, refill }
      if (allowed && remaining >= RESERVE) return
      // Other requests have consumed since.
      if (allowed) await consume(-requests)
    }
  }

  return async (rows) => {
    const cost = Math.ceil(rows / PAGE_SIZE)
    while (consumed < cost) {
      const requests = Math.min(STEP, cost - consumed)
      await take(requests)
      consumed += requests
    }
  }
}
