import { expect, test } from 'vitest'
import { memoize } from '../../lib/memoize.ts'

test('builds once for each key, and again for another that is alike', () => {
  let built = 0
  const get = memoize(({ name }: { name: string }) => {
    built += 1
    return `${name} ${built}`
  })
  const [first, alike] = [{ name: 'a' }, { name: 'a' }]
  expect([get(first), get(first), get(alike), get(first)]).toEqual(['a 1', 'a 1', 'a 2', 'a 1'])
})

test('what could not be built is tried again', () => {
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
