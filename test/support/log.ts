import { beforeEach, vi } from 'vitest'
import type { RequestLog } from '../../lib/request-log.ts'

/** The lines that a test file's tests log, each test's own, parsed and in their order; they are printed nowhere. */
export function loggedLines(): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = []
  for (const method of ['log', 'warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((line) => void lines.push(JSON.parse(line)))
  }
  beforeEach(() => {
    lines.length = 0
  })
  return lines
}

/** The log of a request of which nothing is known yet. */
export const emptyLog = (): RequestLog => ({
  id: 'a-request',
  start: 0,
  endpoint: null,
  keyId: null,
  organizationId: null,
  rows: null,
  subrequests: { neon: 0, upstash: 0 },
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
