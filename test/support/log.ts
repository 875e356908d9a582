import { beforeEach, vi } from 'vitest'
import { HttpError } from '../../lib/errors.ts'
import type { RequestLog } from '../../lib/request-log.ts'

/** Captures what a test file logs instead of printing it: the parsed lines of the current test, in order. */
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

/** The log of a request that has just started. */
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

/** Returns the status of the `HttpError` that a function throws; null when it throws nothing. */
export function statusOf(work: () => unknown): number | null {
  try {
    work()
  } catch (error) {
    if (error instanceof HttpError) return error.status
    throw error
  }
  return null
}
