import { expect, test } from 'vitest'
import { encodeWithEtag, holds } from '../../lib/etag.ts'

const tagOf = async (text: string) => (await encodeWithEtag(text)).tag

test('a tag is quoted, the same for the same bytes and another for others', async () => {
  expect(await tagOf('{"data":[]}')).toMatch(/^"[!#-~]+"$/)
  expect(await tagOf('{"data":[]}')).toBe(await tagOf('{"data":[]}'))
  expect(await tagOf('{"data":[]}')).not.toBe(await tagOf('{"data":[] }'))
})

test.each([
  '"abc"',
  'W/"abc"',
  '"x", "abc"',
  'W/"x",W/"abc"',
  ' "abc" ',
  '*',
  ' * ',
])('If-None-Match: %s names "abc"', (sent) => {
  expect(holds(sent, '"abc"')).toBe(true)
})

test.each([
  undefined,
  '',
  '"abd"',
  'abc',
  '"abc',
  '"ab", "c"',
  'W/"x"',
  '"*"',
])('If-None-Match: %s does not', (sent) => {
  expect(holds(sent, '"abc"')).toBe(false)
})

test('the mark of a weak tag is taken from its start alone', () => {
  expect(holds('"aW/b"', '"aW/b"')).toBe(true)
  expect(holds('"aW/b"', '"ab"')).toBe(false)
})
