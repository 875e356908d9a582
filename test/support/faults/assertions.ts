import { afterAll, expect } from 'vitest'
import type { Answer } from '../call.ts'
import { expectError } from '../refusal.ts'
import type { Stage } from './stages.ts'

/** Within which every request is answered, whatever happens. */
const LIMIT_MS = 10_000

/** What a struck request came to. */
export type Verdict = 'whole' | 'unavailable'

/**
 * Expects what a caller is owed: the answer that there is without faults, to the byte, or a 503 that says when to come
 * again and gives nothing away.
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

/** Expects a 503 that says when to come again and gives nothing away. */
function expectUnavailable(answer: Answer): Verdict {
  expectError(answer, 503)
  expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
  return 'unavailable'
}

/** Expects a page, or a 503 as {@link expectWholeOrUnavailable} does; that nothing is missing is for who follows the pages to see. */
export const expectPageOrUnavailable = (answer: Answer): Verdict =>
  answer.status === 200 ? 'whole' : expectUnavailable(answer)

/** Waits for an answer, in the time that a caller is owed, and gives what `expect_` makes of it. */
export type Judge = <Checked>(
  asked: Promise<Answer>,
  expect_: (answer: Answer) => Checked,
) => Promise<Checked>

/** Counts what a test file tries, and says so at its end in one line. */
export function outcomeCounter(what: string): { readonly judge: Judge } {
  let [tried, survived, slowestMs] = [0, 0, 0]
  afterAll(() => {
    console.log(`${what} tried ${tried}, survived ${survived}, slowest answer ${slowestMs.toFixed(0)} ms`)
  })
  return {
    judge: async (asked, expect_) => {
      tried += 1
      const start = performance.now()
      const answer = await asked
      const took = performance.now() - start
      slowestMs = Math.max(slowestMs, took)
      expect(took).toBeLessThan(LIMIT_MS)
      const verdict = expect_(answer)
      survived += 1
      return verdict
    },
  }
}

/** Expects a Worker's log to quote nothing that a caller sent and nothing that a server said. */
export function expectNoSecretsLogged(log: readonly string[], stages: readonly Stage[]): void {
  const text = log.join('\n')
  expect(text).not.toMatch(/secret detail|select\b|svc_live_|api\.neon\.test|upstash\.test/)
  for (const { call } of stages) {
    const { brandId } = call.query ?? {}
    if (brandId !== undefined) expect(text).not.toContain(brandId)
  }
}
