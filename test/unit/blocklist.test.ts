import { expect, test } from 'vitest'
import { createBlocklist } from '../../lib/blocklist.ts'

const at = (ms: number) => new Date(ms)

/** Which of some clients a blocklist of three holds after they were blocked at 0, each until its end. */
function blockedAt(now: number, ends: Record<string, number>, last?: readonly [string, number]) {
  const { isBlocked, blockUntil } = createBlocklist(3)
  for (const [client, end] of Object.entries(ends)) blockUntil(client, end, at(0))
  if (last) blockUntil(...last, at(now))
  return (clients: string) => [...clients].filter((client) => isBlocked(client, at(now))).join('')
}

test('blocks a client until its refill, and no other client', () => {
  expect(blockedAt(999, { a: 1000 })('ab')).toBe('a')
  expect(blockedAt(1000, { a: 1000 })('ab')).toBe('')
})

test('tells until when a client is blocked', () => {
  const { blockUntil, endOf } = createBlocklist(3)
  blockUntil('a', 1000, at(0))
  expect([endOf('a'), endOf('b')]).toEqual([1000, 0])
})

test('holds as many clients as its capacity', () => {
  expect(blockedAt(0, { a: 1000, b: 1000, c: 1000 })('abc')).toBe('abc')
})

test('drops expired clients when it is full', () => {
  expect(blockedAt(1000, { a: 1000, b: 1001, c: 1001 }, ['d', 2000])('abcd')).toBe('bcd')
})

test('drops all clients when it is full and none has expired', () => {
  expect(blockedAt(0, { a: 1000, b: 1000, c: 1000 }, ['d', 1000])('abcd')).toBe('d')
})

test('removes what it drops: an expired client is not blocked again by an earlier clock', () => {
  const { isBlocked, blockUntil } = createBlocklist(1)
  blockUntil('a', 1000, at(0))
  blockUntil('b', 2000, at(1000))
  expect(isBlocked('a', at(0))).toBe(false)
})
