import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fileBudget } from '../../lib/file/chunks.ts'
import type { Budget } from '../../lib/request/context.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PASSED: Budget = { allowed: true, remaining: 50, refillSeconds: 12 }
const DENIED: Budget = { allowed: false, remaining: 0, refillSeconds: 7 }

/** Answers counts one after the other, and then lets all pass. `asked` has the requests of each, and those to leave. */
function bucket(...answers: readonly Budget[]) {
  const asked: number[][] = []
  const consume = async (...count: [requests: number, leave: number]) => {
    asked.push(count)
    return answers[asked.length - 1] ?? PASSED
  }
  return { asked, consume }
}

/** Consumes for a number of rows, and returns the seconds that this took. */
async function secondsFor(consumeFor: (rows: number) => Promise<void>, rows: number): Promise<number> {
  const start = Date.now()
  let done = false
  const consumed = consumeFor(rows).then(() => {
    done = true
  })
  for (await vi.advanceTimersByTimeAsync(0); !done; ) await vi.advanceTimersByTimeAsync(1000)
  await consumed
  return Math.floor((Date.now() - start) / 1000)
}

test.each([
  [[0, 1, 1000], []],
  [[1001, 2000], [1]],
  [[6000], [5]],
  [[6001], [5, 1]],
  [
    [1500, 2000, 1999, 2001, 3000],
    [1, 1],
  ],
])('%j rows cost %j requests after the first, and leave 5', async (all, requests) => {
  const { asked, consume } = bucket()
  const consumeFor = fileBudget({ consume, budget: PASSED })
  for (const rows of all) await consumeFor(rows)
  expect(asked).toEqual(requests.map((count) => [count, 5]))
})

test('waits for refills and asks again', async () => {
  const { asked, consume } = bucket(PASSED, DENIED, DENIED)
  expect(await secondsFor(fileBudget({ consume, budget: PASSED }), 11_000)).toBe(14)
  expect(asked).toHaveLength(4)
})

test('waits for one count while Redis is silent, and for none when its own request has waited', async () => {
  const consume = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000))
    return null
  }
  expect(await secondsFor(fileBudget({ consume, budget: PASSED }), 1_000_000)).toBe(5)
  expect(await secondsFor(fileBudget({ consume, budget: null }), 1_000_000)).toBe(0)
})

test('counts one at a time until Redis answers, and then waits for refills', async () => {
  const { asked, consume } = bucket(PASSED, DENIED)
  let isSilent = true
  let silent = 0
  const consumeSilently = async (requests: number, leave: number) => {
    if (!isSilent) return consume(requests, leave)
    silent += 1
    await new Promise((resolve) => setTimeout(resolve, 5000))
    return null
  }
  const consumeFor = fileBudget({ consume: consumeSilently, budget: null })
  await consumeFor(1_000_000)
  expect(silent).toBe(1)
  isSilent = false
  await vi.advanceTimersByTimeAsync(5000)
  expect(await secondsFor(consumeFor, 1_005_000)).toBe(0)
  expect(await secondsFor(consumeFor, 1_010_000)).toBe(7)
  expect(asked).toHaveLength(3)
})
