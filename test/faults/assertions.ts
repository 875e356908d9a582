import { expect } from 'vitest'
import type { Answer } from '../fixtures/call.ts'
import { expectError } from '../fixtures/expect-error.ts'
import type { Stage } from './requests.ts'

/** Every request is answered within this time. */
const LIMIT_MS = 10_000

/** The result of a request during a fault. */
export type Verdict = 'whole' | 'unavailable'

/**
 * Expects the response without faults, byte for byte, or a 503 with `Retry-After` that reveals nothing.
 */
export function expectWholeOrUnavailable(
  answer: Answer,
  whole: Pick<Answer, 'status' | 'text' | 'headers'>,
): Verdict {
  if (answer.status === 503) return expectUnavailable(answer)
  expect(answer.status, answer.text.slice(0, 200)).toBe(whole.status)
  expect(answer.text === whole.text, `not the same text: ${answer.text.slice(0, 300)}`).toBe(true)
  for (const name of ['Content-Type', 'ETag', 'Link']) {
    expect(answer.headers.get(name)).toBe(whole.headers.get(name))
  }
  return 'whole'
}

/** Expects a 503 with `Retry-After` that reveals nothing. */
function expectUnavailable(answer: Answer): Verdict {
  expectError(answer, 503)
  expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
  return 'unavailable'
}

/** Waits for a response, and expects it within the time limit. */
export async function inTime(asked: Promise<Answer>): Promise<Answer> {
  const start = performance.now()
  const answer = await asked
  expect(performance.now() - start).toBeLessThan(LIMIT_MS)
  return answer
}

/** Expects a Worker's log to quote no request and no server response. */
export function expectNoSecretsLogged(log: readonly string[], stages: readonly Stage[]): void {
  const text = log.join('\n')
  expect(text).not.toMatch(/secret detail|select\b|svc_live_|api\.neon\.test|upstash\.test/)
  for (const { call } of stages) {
    const { brandId } = call.query ?? {}
    if (brandId !== undefined) expect(text).not.toContain(brandId)
  }
}
