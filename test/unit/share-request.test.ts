import { describe, expect, test } from 'vitest'
import {
  listBody,
  parseAsOf,
  parseFeed,
  parseHeaders,
  parsePage,
  parseQuery,
  parseStart,
} from '../../lib/share/request.ts'
import { statusOf } from '../fixtures/log.ts'

const T = '2026-11-22T04:31:07Z'
const TIME = '2026-11-22T04:31:07.000Z'

describe('the body of a query', () => {
  test.each([
    [' \n', { version: '', timestamp: '', bounds: {} }],
    ['{"version":"12"}', { version: '12', refreshToken: '', includeRefreshToken: false }],
    ['{"version":2147483647}', { version: '2147483647' }],
    ['{"version":null,"timestamp":null,"startingVersion":null}', { version: '', timestamp: '' }],
    [`{"timestamp":"${T}"}`, { timestamp: TIME }],
    [
      `{"predicateHints":["date > '2026-01-05'"],"limitHint":"x"}`,
      { bounds: { date: [{ from: '2026-01-05', to: 'infinity' }] } },
    ],
    ['{"__proto__":{"version":1}}', { version: '' }],
    ['{"includeRefreshToken":true,"refreshToken":null}', { refreshToken: '', includeRefreshToken: true }],
  ])('%s is valid', (text, query) => {
    expect(parseQuery(text)).toMatchObject(query)
  })

  test.each([
    ['{'],
    ['null'],
    ['{"version":-1}'],
    ['{"version":1.5}'],
    ['{"version":2147483648}'],
    ['{"version":""}'],
    ['{"version":{"toString":1}}'],
    ['{"timestamp":{"toString":1}}'],
    [`{"version":1,"timestamp":"${T}"}`],
    ['{"version":1,"refreshToken":"1"}'],
    ['{"refreshToken":""}'],
  ])('%s is 400', (text) => {
    expect(statusOf(() => parseQuery(text))).toBe(400)
  })

  test.each([
    ['{"refreshToken":1}', 'Parameter refreshToken must be the refreshToken of an earlier response.'],
    ['{"startingVersion":1}', 'Set the option readChangeFeed to true'],
    ['{"endingVersion":1}', 'Set the option readChangeFeed to true'],
  ])('%s is 400 that says what to do', (text, message) => {
    expect(() => parseQuery(text)).toThrow(message)
  })
})

test('the version of metadata is that of its parameters, once', () => {
  const asOf = (query: string) => parseAsOf(new URLSearchParams(query))
  expect(asOf('version=12')).toEqual({ version: '12', timestamp: '' })
  expect(asOf(`timestamp=${T}`)).toEqual({ version: '', timestamp: TIME })
  for (const query of ['version=1&version=2', `version=1&timestamp=${T}`])
    expect(statusOf(() => asOf(query))).toBe(400)
})

describe('the parameters of a feed', () => {
  const feed = (query: string) => parseFeed(new URLSearchParams(query))

  test.each([
    ['startingVersion=5&includeHistoricalMetadata=true', { startingVersion: '5', startingTimestamp: '' }],
    ['startingVersion=5&endingVersion=4', { startingVersion: '5', endingVersion: '4' }],
    [`startingVersion=5&endingTimestamp=${T}`, { endingVersion: '', endingTimestamp: TIME }],
    [`startingTimestamp=${T}`, { startingVersion: '', startingTimestamp: TIME }],
  ])('%s is valid', (query, expected) => {
    expect(feed(query)).toMatchObject(expected)
  })

  test.each([
    [''],
    ['startingVersion=1&startingVersion=2'],
    [`startingVersion=1&startingTimestamp=${T}`],
    [`startingVersion=1&endingVersion=2&endingTimestamp=${T}`],
    ['endingVersion=1'],
  ])('%s is 400', (query) => {
    expect(statusOf(() => feed(query))).toBe(400)
  })
})

describe('a timestamp', () => {
  const parse = (startingTimestamp: string) => parseStart(new URLSearchParams({ startingTimestamp }))

  test.each([
    ['2026-11-22T04:31:07.123456Z', '2026-11-22T04:31:07.123Z'],
    ['2026-11-22T04:31:07-23:59', '2026-11-23T04:30:07.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s is a time of UTC', (text, time) => {
    expect(parse(text)).toBe(time)
  })

  test.each([
    ['2026-11-22'],
    ['2026-11-22T04:31:07'],
    ['2026-02-30T04:31:07Z'],
    ['0001-01-01T00:00:00+01:00'],
    ['9999-12-31T23:59:59-01:00'],
    [''],
  ])('%s is 400', (text) => {
    expect(statusOf(() => parse(text))).toBe(400)
  })
})

describe('the headers of a call that is answered with lines', () => {
  test.each<[headers: Record<string, string>, fileidhash?: string]>([
    [{}],
    [{ 'Delta-Sharing-Capabilities': 'responseformat=delta,parquet;readerfeatures=deletionvectors' }],
    [{ 'Delta-Sharing-Capabilities': 'readerfeatures=x;ResponseFormat = Delta, Parquet' }],
    [{ 'Delta-Sharing-Capabilities': 'readerfeatures=x;includeEndStreamAction=true' }],
    [{ fileidhash: 'Parquet' }, 'parquet'],
  ])('%j are valid', (headers, fileidhash) => {
    expect(parseHeaders(new Headers(headers))).toEqual({
      'delta-sharing-capabilities': 'responseformat=parquet',
      ...(fileidhash && { fileidhash }),
    })
  })

  test.each([
    ['delta-sharing-capabilities', 'responseformat='],
    ['delta-sharing-capabilities', 'responseformat=parquets'],
    ['fileidhash', ''],
    ['fileidhash', 'parquet, parquet'],
  ])('%s: %s is 400', (name, value) => {
    expect(statusOf(() => parseHeaders(new Headers({ [name]: value })))).toBe(400)
  })
})

describe('a list', () => {
  const ITEMS = ['a', 'b', 'c'].map((name) => ({ name }))
  const list = (query: string) => JSON.parse(listBody(ITEMS, parsePage(new URLSearchParams(query))))

  test.each([
    ['', ['a', 'b', 'c'], undefined],
    ['maxResults=2&pageToken=2', ['c'], undefined],
    ['maxResults=2&pageToken=', ['a', 'b'], '2'],
    ['maxResults=3', ['a', 'b', 'c'], undefined],
    ['pageToken=9', [], undefined],
    ['maxResults=9999999999', ['a', 'b', 'c'], undefined],
  ])('of %s', (query, names, nextPageToken) => {
    expect(list(query)).toEqual({ items: names.map((name) => ({ name })), nextPageToken })
  })

  test.each([['maxResults=x'], ['maxResults=1&maxResults=2'], ['pageToken=-1']])('of %s is 400', (query) => {
    expect(statusOf(() => list(query))).toBe(400)
  })
})
