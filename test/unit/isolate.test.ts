import { expect, test } from 'vitest'
import { memoize, recent } from '../../lib/request/isolate.ts'

test('builds a value once per key object, equal objects included', () => {
  let built = 0
  const get = memoize(({ name }: { name: string }) => {
    built += 1
    return `${name} ${built}`
  })
  const [first, equal] = [{ name: 'a' }, { name: 'a' }]
  expect([get(first), get(first), get(equal), get(first)]).toEqual(['a 1', 'a 1', 'a 2', 'a 1'])
})

test('builds again after a failure', () => {
  let tries = 0
  const get = memoize((_: object) => {
    tries += 1
    if (tries === 1) throw new Error('not yet')
    return tries
  })
  const key = {}
  expect(() => get(key)).toThrow('not yet')
  expect(get(key)).toBe(2)
})

test('a recent store keeps the keys that were set last', () => {
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
