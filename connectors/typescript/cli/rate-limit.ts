/** A bucket of requests as a response describes it: how fast it fills up, and how many are left. */
export type RateLimit = { readonly requests: number; readonly seconds: number; readonly remaining: number }

/** Returns undefined when the service did not count the request. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [, requests, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '') ?? []
  const [, remaining] = /;r=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? []
  if (remaining === undefined) return undefined
  return { requests: Number(requests), seconds: Number(seconds), remaining: Number(remaining) }
}

/** Returns the seconds in which the bucket receives what requests need beyond those that are left. */
export const waitSeconds = (needed: number, { requests, seconds, remaining }: RateLimit): number =>
  (Math.max(0, needed - remaining) * seconds) / requests
