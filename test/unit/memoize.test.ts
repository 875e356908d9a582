import { expect, test } from 'vitest'
import { memoize } from '../../lib/request/isolate.ts'

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
