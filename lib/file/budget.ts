import type { RequestContext } from '../request/context.ts'
import { PAGE_SIZE } from '../rows/size.ts'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Requests that a file leaves to the client's other requests. */
const RESERVE = 5

/** The most requests consumed at once: what a full part of a file costs. */
const STEP = 5

/**
 * Returns a function that consumes what a file of a number of rows costs in all: one request for each started page,
 * of which the file's own request, which has left `budget`, is the first. It waits for refills of the budget. After Redis failed once, requests are
 * counted in the background, one count at a time, until one succeeds: an unavailable Redis must not delay an export.
 */
export function fileBudget({ consume, budget }: Pick<RequestContext['var'], 'consume' | 'budget'>) {
  let consumed = 1
  let isAvailable = budget !== null
  /** The count that was started last, until it ends. */
  let counting: Promise<void> | null = null

  async function take(requests: number): Promise<void> {
    for (;;) {
      const counted = await consume(requests, RESERVE)
      isAvailable = counted !== null
      if (counted === null || counted.allowed) return
      await sleep(counted.refillSeconds * 1000)
    }
  }

  async function count(requests: number): Promise<void> {
    if (isAvailable) await counting
    else if (counting !== null) return
    counting = take(requests).finally(() => {
      counting = null
    })
    if (isAvailable) await counting
  }

  return async (rows: number): Promise<void> => {
    const cost = Math.ceil(rows / PAGE_SIZE)
    while (consumed < cost) {
      const requests = Math.min(STEP, cost - consumed)
      await count(requests)
      consumed += requests
    }
  }
}
