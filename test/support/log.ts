import type { RequestLog } from '../../lib/request-log.ts'

/** The log of a request of which nothing is known yet. */
export const emptyLog = (): RequestLog => ({
  id: 'a-request',
  start: 0,
  endpoint: null,
  keyId: null,
  organizationId: null,
  rows: null,
  trips: { neon: 0, upstash: 0 },
  waits: new Map(),
})

/** The status of the refusal that some work throws; null when it throws none. */
export function refusedWith(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error instanceof Error && 'status' in error ? error.status : error
  }
  return null
}
