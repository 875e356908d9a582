import { expect, test } from 'vitest'
import { encodeWithEtag, matchesEtag } from '../../lib/http/app.ts'

test('encodes a body as UTF-8; its ETag is the first half of its SHA-256 in hex, quoted', async () => {
  const { bytes, etag } = await encodeWithEtag('é')
  expect([...bytes]).toEqual([0xc3, 0xa9])
  expect(etag).toBe('"4a99557e4033c3539de2eb65472017ca"')
})

test.each([
  '"abc"',
  'W/"abc"',
  '"x", "abc"',
  'W/"x",W/"abc"',
  ' "abc" ',
  '*',
  ' * ',
])('If-None-Match: %s matches "abc"', (sent) => {
  expect(matchesEtag(sent, '"abc"')).toBe(true)
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
])('If-None-Match: %s does not match "abc"', (sent) => {
  expect(matchesEtag(sent, '"abc"')).toBe(false)
})

test('ignores the W/ prefix at the start of a tag only', () => {
  expect(matchesEtag('"aW/b"', '"aW/b"')).toBe(true)
  expect(matchesEtag('"aW/b"', '"ab"')).toBe(false)
})
