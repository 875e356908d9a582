import { expect, test } from 'vitest'
import { recent } from '../../lib/request/isolate.ts'

test('keeps the keys that were set last', () => {
  const values = recent<number>(2)
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    values.set(key, value)
  expect(['a', 'b', 'c'].map((key) => values.get(key))).toEqual([3, undefined, 4])
})
