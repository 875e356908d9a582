import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Budget } from '../../lib/context.ts'
import { fileBudget } from '../../lib/file/budget.ts'
import { sleep } from '../../lib/file/sleep.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A token bucket that refills 12 seconds after it was asked, and what it was asked for. */
function bucket(tokens: number) {
  const asked: number[] = []
  const state = { tokens }
  const start = Date.now()
  let refills = 0
  const consume = async (requests: number, leave: number): Promise<Budget | null> => {
    asked.push(requests)
    const seconds = (Date.now() - start) / 1000
    for (; (refills + 1) * 12 <= seconds; refills += 1) state.tokens = Math.min(100, state.tokens + 20)
    const allowed = requests + leave <= state.tokens
    if (allowed) state.tokens -= requests
    return {
      allowed,
      remaining: state.tokens,
      refillSeconds: Math.ceil((refills + 1) * 12 - seconds),
    }
  }
  return { asked, state, consume }
}

/** The budget of a file whose own request left a full bucket. */
const budgetOf = ({ consume }: Pick<ReturnType<typeof bucket>, 'consume'>) =>
  fileBudget({ consume, budget: { allowed: true, remaining: 100, refillSeconds: 12 } })

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
  [0, []],
  [1, []],
  [1000, []],
  [1001, [1]],
  [2000, [1]],
  [6000, [5]],
  [6001, [5, 1]],
])('%i rows cost one request for each started thousand, the first of which is the file itself', async (rows, asked) => {
  const its = bucket(100)
  await budgetOf(its)(rows)
  expect(its.asked).toEqual(asked)
})

test('rows that were consumed for cost nothing again', async () => {
  const its = bucket(100)
  const consumeFor = budgetOf(its)
  for (const rows of [1500, 2000, 1999, 2001, 3000]) await consumeFor(rows)
  expect(its.asked).toEqual([1, 1])
})

test('leaves 5 requests, waits for the next refill and goes on', async () => {
  const its = bucket(14)
  const consumeFor = budgetOf(its)
  expect(await secondsFor(consumeFor, 6000)).toBe(0)
  expect(its.state.tokens).toBe(9)
  expect(await secondsFor(consumeFor, 11_000)).toBe(12)
  expect(its.state.tokens, '9 + 20 - 5').toBe(24)
  expect(its.asked, 'asks again at the refill').toEqual([5, 5, 5])
})

test('takes a budget to its last 5 requests, and not below', async () => {
  const its = bucket(10)
  expect(await secondsFor(budgetOf(its), 6000)).toBe(0)
  expect(its.state.tokens).toBe(5)
})

test('does not take from the last 5', async () => {
  const its = bucket(9)
  expect(await secondsFor(budgetOf(its), 6000)).toBe(12)
  expect(its.state.tokens, '9 + 20 - 5').toBe(24)
})

test('waits again when other requests have consumed the refill', async () => {
  const its = bucket(14)
  const consumeFor = budgetOf(its)
  await consumeFor(6000)
  const waited = secondsFor(consumeFor, 11_000)
  await vi.advanceTimersByTimeAsync(11_000)
  // The refill brings it to 8.
  its.state.tokens = -12
  expect(await waited).toBe(24)
  expect(its.state.tokens, '8 + 20 - 5').toBe(23)
})

describe('while Redis is silent', () => {
  /** A bucket whose counts wait 5 seconds for a silent Redis. */
  function silentBucket(tokens: number) {
    const its = bucket(tokens)
    const redis = { isSilent: true, counts: 0 }
    const consume = async (requests: number, leave: number) => {
      redis.counts += 1
      if (!redis.isSilent) return its.consume(requests, leave)
      await sleep(5000)
      return null
    }
    return { ...its, redis, consume }
  }

  test('a file waits for one count, and for none when its own request has waited', async () => {
    const { consume } = silentBucket(100)
    expect(await secondsFor(budgetOf({ consume }), 1_000_000)).toBe(5)
    expect(await secondsFor(fileBudget({ consume, budget: null }), 1_000_000)).toBe(0)
  })

  test('a file counts again when Redis answers, and leaves 5 requests', async () => {
    const { consume, redis, asked, state } = silentBucket(12)
    const consumeFor = fileBudget({ consume, budget: null })
    await consumeFor(1_000_000)
    expect(redis.counts, 'one at a time').toBe(1)
    redis.isSilent = false
    await vi.advanceTimersByTimeAsync(5000)
    expect(await secondsFor(consumeFor, 1_005_000)).toBe(0)
    expect(await secondsFor(consumeFor, 1_010_000)).toBe(7)
    expect(asked, 'once before the refill').toEqual([5, 5, 5])
    expect(state.tokens, '12 - 5 + 20 - 5').toBe(22)
  })
})
