import { describe, expect, test } from 'vitest'
import { HttpError } from '../../lib/errors.ts'
import { parseParameters } from '../../lib/parameters.ts'

const ID = 'abcdefab-1111-1111-1111-111111111111'

const parse = (query: Record<string, string>) =>
  parseParameters(new URLSearchParams({ brandId: ID, ...query }))

/** Status and message of the error; null when there is none. */
function errorOf(query: string): string | null {
  const parsed = parseParameters(new URLSearchParams(query))
  return parsed instanceof HttpError ? `${parsed.status} ${parsed.message}` : null
}

test('returns the parameters that were sent and no others', () => {
  expect(parse({})).toEqual({ brandId: ID })
  const query = { fromDate: '2026-10-01', toDate: '2026-10-02', cursor: 'cA' }
  expect(parse(query)).toEqual({ brandId: ID, ...query })
})

test('accepts any UUID that Postgres accepts, in either case, and returns it in lowercase', () => {
  for (const id of [
    ID,
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'a0000000-0000-0000-0000-000000000001',
    '12345678-1234-0234-0234-123456789abc',
    '12345678-1234-f234-f234-123456789abc',
  ]) {
    expect(parse({ brandId: id.toUpperCase() })).toEqual({ brandId: id })
  }
})

test.each([
  '0001-01-01',
  '9999-12-31',
  '2024-02-29',
  '2000-02-29',
  '2026-12-31',
])('accepts the date %s', (date) => {
  expect(parse({ fromDate: date })).toEqual({ brandId: ID, fromDate: date })
  expect(parse({ toDate: date })).toEqual({ brandId: ID, toDate: date })
})

describe('returns 400 that names the parameter', () => {
  test.each([
    ['brandId', ''],
    ['brandId', `brandid=${ID}`],
    ['brandId', 'brandId='],
    ['brandId', `brandId=${ID}&brandId=${ID}`],
    ['fromDate', `brandId=${ID}&fromDate=2026-02-29`],
    ['fromDate', `brandId=${ID}&fromDate=2026-02-01&fromDate=2026-02-01`],
    ['toDate', `brandId=${ID}&toDate=`],
    ['toDate', `brandId=${ID}&toDate&toDate`],
    ['cursor', `brandId=${ID}&cursor=`],
    ['cursor', `brandId=${ID}&cursor=a&cursor=b`],
  ])('%s in ?%s', (name, query) => {
    expect(errorOf(query)).toMatch(new RegExp(`^400 .*\\b${name}\\b`))
  })
})

test('distinguishes a missing brandId from a malformed one', () => {
  expect(errorOf('')).toBe('400 Parameter brandId is missing. Add it to the query string.')
  expect(errorOf('brandId')).toMatch(/^400 Parameter brandId must be a UUID/)
})

test('returns 400 when fromDate is later than toDate; both may be the same day', () => {
  expect(errorOf(`brandId=${ID}&fromDate=2026-10-02&toDate=2026-10-01`)).toMatch(/^400 .*fromDate.*toDate/)
  expect(errorOf(`brandId=${ID}&fromDate=2026-10-01&toDate=2026-10-01`)).toBeNull()
})

test('ignores unknown parameters, repeated ones included', () => {
  expect(errorOf(`brandId=${ID}&limit=1&limit=2&FromDate=x&__proto__=1&constructor=2`)).toBeNull()
})
