import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fileBudget } from '../../lib/file/budget.ts'
import type { Budget } from '../../lib/request/context.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PASSED: Budget = { allowed: true, remaining: 50, refillSeconds: 3 }
const STAYS = new AbortController().signal
const DENIED: Budget = { allowed: false, remaining: 0, refillSeconds: 7 }

/** Answers counts one after the other, and then lets all pass. `asked` has the tokens of each. */
function bucket(...answers: readonly (Budget | null)[]) {
  const asked: number[] = []
  const consumeRows = async (tokens: number) => {
    asked.push(tokens)
    return answers[asked.length - 1] === undefined ? PASSED : (answers[asked.length - 1] ?? null)
  }
  return { asked, consumeRows }
}

/** Consumes for a number of rows, and returns the seconds that this took. */
async function secondsFor(consumeFor: (rows: number) => Promise<void>, rows: number): Promise<number> {
  const start = Date.now()
  const consumed = consumeFor(rows)
  await vi.runAllTimersAsync()
  await consumed
  return (Date.now() - start) / 1000
}

test.each([
  [[0], []],
  [[1, 1000], [1]],
  [[1001, 2000], [2]],
  [[6001], [5, 2]],
  [
    [1500, 2000, 1999, 2001, 3000],
    [2, 1],
  ],
])('%j rows cost %j tokens', async (all, tokens) => {
  const { asked, consumeRows } = bucket()
  const consumeFor = fileBudget({ consumeRows, budget: PASSED }, STAYS)
  for (const rows of all) await consumeFor(rows)
  expect(asked).toEqual(tokens)
})

test('waits for refills, and up to a second longer', async () => {
  const { asked, consumeRows } = bucket(PASSED, DENIED, DENIED)
  const seconds = await secondsFor(fileBudget({ consumeRows, budget: PASSED }, STAYS), 10_000)
  expect(seconds).toBeGreaterThanOrEqual(14)
  expect(seconds).toBeLessThanOrEqual(16)
  expect(asked, 'half as many each time').toEqual([5, 5, 3, 2, 3])
})

test('takes nothing after the client has left', async () => {
  const controller = new AbortController()
  const { asked, consumeRows } = bucket(DENIED)
  const consumed = fileBudget({ consumeRows, budget: PASSED }, controller.signal)(10_000)
  await vi.advanceTimersByTimeAsync(1000)
  controller.abort()
  await vi.runAllTimersAsync()
  await consumed
  expect(asked).toEqual([5])
})

test('counts no more after Redis failed, for the file or for its own request', async () => {
  const failing = bucket(PASSED, null)
  await fileBudget({ consumeRows: failing.consumeRows, budget: PASSED }, STAYS)(1_000_000)
  expect(failing.asked).toEqual([5, 5])
  const none = bucket()
  await fileBudget({ consumeRows: none.consumeRows, budget: null }, STAYS)(1_000_000)
  expect(none.asked).toEqual([])
})
