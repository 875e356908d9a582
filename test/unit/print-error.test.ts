import { expect, test } from 'vitest'
import { wrap } from '../../cli/local/print-error.mjs'

test.for([
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 13, ['one two three']],
  ['a-long-word and', 5, ['a-long-word', 'and']],
  ['a-long-word', 5, ['a-long-word']],
  ['', 5, ['']],
] as const)('"%s" in %i columns', ([line, columns, lines]) => {
  expect(wrap(line, columns)).toEqual(lines)
})

test('a terminal without a size has 80 columns', () => {
  const word = 'x'.repeat(39)
  expect(wrap(`${word} ${word} ${word}`, 0)).toEqual([`${word} ${word}`, word])
})
