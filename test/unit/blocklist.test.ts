import { expect, test } from 'vitest'
import { createBlocklist } from '../../lib/blocklist.ts'

const at = (ms: number) => new Date(ms)

test('a caller is remembered until its minute ends, and no other is', () => {
  const { add, has } = createBlocklist(3)
  add('me', 1000, at(0))
  expect([has('me', at(999)), has('me', at(1000)), has('other', at(0))]).toEqual([true, false, false])
})

test('as many are remembered as there is room for', () => {
  const { add, has } = createBlocklist(3)
  for (const caller of ['a', 'b', 'c']) add(caller, 1000, at(0))
  expect(['a', 'b', 'c'].map((caller) => has(caller, at(0)))).toEqual([true, true, true])
})

test('without room those are forgotten whose minute is over', () => {
  const { add, has } = createBlocklist(3)
  add('over', 1000, at(0))
  for (const caller of ['a', 'b']) add(caller, 1001, at(0))
  add('c', 2000, at(1000))
  expect(['over', 'a', 'b', 'c'].map((caller) => has(caller, at(1000)))).toEqual([false, true, true, true])
  expect(has('over', at(0))).toBe(false)
})

test('where no minute is over all are forgotten but the newest', () => {
  const { add, has } = createBlocklist(3)
  for (const caller of ['a', 'b', 'c', 'd']) add(caller, 1000, at(0))
  expect(['a', 'b', 'c', 'd'].map((caller) => has(caller, at(0)))).toEqual([false, false, false, true])
})
