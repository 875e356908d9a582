import { expect, test } from 'vitest'
import { network } from '../../lib/rate-limit.ts'

test('an IPv4 address is a caller’s own', () => {
  expect(network('203.0.113.7')).toBe('203.0.113.7')
  expect(network('203.0.113.7')).not.toBe(network('203.0.113.8'))
})

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:db8:1:2::', '2001:db8:1:2::1'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::1'],
  ['2001:0db8:0001:0002::1', '2001:db8:1:2::1'],
  ['2001:db8::1', '2001:db8:0:0:1::'],
  ['2001:db8::1', '2001:db8:0000:0000:0000:0000:0000:0001'],
  ['2001:db8::', '2001:db8:0:0::5'],
  ['::1', '::2'],
  ['1::', '1:0:0:0:5:6:7:8'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2:3:4:5:6'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
])('%s and %s are of one caller', (one, other) => {
  expect(network(one)).toBe(network(other))
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['2001:db8::1', '2001:db8:0:1::1'],
  ['2001:db8:1:2::1', '2001:db8:12::1'],
  ['::1', '0:0:0:1::1'],
  ['1::', '::1'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.8'],
])('%s and %s are of two callers', (one, other) => {
  expect(network(one)).not.toBe(network(other))
})
