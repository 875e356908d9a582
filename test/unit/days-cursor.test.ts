import { describe, expect, test } from 'vitest'
import { type DaysBinding, readCursor, START, writeCursor } from '../../lib/days/cursor.ts'
import { sha256Bytes } from '../../lib/request/hash.ts'

const BINDING: DaysBinding = {
  endpoint: 'citations',
  brandId: '11111111-1111-1111-1111-111111111111',
  fromDate: '2026-10-01',
}
const POSITION = {
  organization: '22222222-2222-2222-2222-222222222222',
  list: '0123456789ab',
  since: '2026-11-02T04:31:07.123456Z',
  had: '2026-08-30',
  until: '2026-11-03T00:00:00.000000Z',
  reach: '2026-08-31',
  began: '2026-11-03T00:00:00.000Z',
  brand: '33333333-3333-3333-3333-333333333333',
  changed_at: '2026-11-02T05:00:00.000000Z',
  endpoint: 'citations',
  date: '2026-10-07',
  offset: '1000',
  key: '["https://site.example/Čapek","Ω 日本 😀"]',
}
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('a cursor of /days', () => {
  test('returns the position that it was written with', async () => {
    expect(await readCursor(await writeCursor(POSITION, BINDING), BINDING)).toEqual(POSITION)
    expect(await readCursor(await writeCursor(START, {}), {})).toEqual(START)
  })

  test('starts with a letter and needs no escaping in a URL', async () => {
    for (let length = 0; length < 30; length += 1)
      expect(await writeCursor({ ...POSITION, key: '?'.repeat(length) }, BINDING)).toMatch(
        /^[A-Za-z][A-Za-z0-9_-]+$/,
      )
  })

  test('is valid only with its endpoint, brand and first day, which a request need not have', async () => {
    const cursor = await writeCursor(POSITION, BINDING)
    for (const other of [
      {},
      { ...BINDING, endpoint: undefined },
      { ...BINDING, endpoint: 'visibility' },
      { ...BINDING, brandId: undefined },
      { ...BINDING, brandId: '11111111-1111-1111-1111-111111111112' },
      { ...BINDING, fromDate: undefined },
      { ...BINDING, fromDate: '2026-10-02' },
    ])
      expect(await readCursor(cursor, other)).toBeNull()
  })

  test('is invalid when one character is another, is left out, or is added', async () => {
    const cursor = await writeCursor(POSITION, BINDING)
    const last = cursor.length - 1
    const others = [...ALPHABET].filter((character) => character !== cursor[last])
    const altered = [
      ...Array.from(
        cursor,
        (character, at) => cursor.slice(0, at) + (character === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
      ),
      ...Array.from(cursor, (_, at) => cursor.slice(0, at) + cursor.slice(at + 1)),
      ...others.map((character) => cursor.slice(0, last) + character),
      ...['A', 'AA', 'AAA', '=', ' '].map((added) => cursor + added),
    ]
    for (const each of altered) expect([each, await readCursor(each, BINDING)]).toEqual([each, null])
  })

  test.each([
    '',
    'd',
    'dA',
    'dAA',
    'dAAAAA',
    'd_',
    `d${'A'.repeat(41)}`,
    'c0000',
    'd%',
    'dä',
  ])('is invalid when it is %j', async (cursor) => {
    expect(await readCursor(cursor, {})).toBeNull()
  })

  test('starts again when it has an outdated format', async () => {
    const bytes = Buffer.from((await writeCursor(POSITION, BINDING)).slice(1), 'base64url')
    const [, ...values] = JSON.parse(bytes.subarray(8).toString())
    const payload = Buffer.from(JSON.stringify([0, ...values]))
    const { endpoint, brandId, fromDate } = BINDING
    const checksum = (await sha256Bytes(JSON.stringify([endpoint, brandId, fromDate, ...payload]))).subarray(
      0,
      8,
    )
    const outdated = `d${Buffer.concat([checksum, payload]).toString('base64url')}`
    expect(await readCursor(outdated, BINDING)).toEqual(START)
  })
})
