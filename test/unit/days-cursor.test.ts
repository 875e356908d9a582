import { describe, expect, test } from 'vitest'
import { readCursor, START, writeCursor } from '../../lib/days/cursor.ts'
import { sign } from '../../lib/page/cursor.ts'

const BINDING = {
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
  brand_id: '33333333-3333-3333-3333-333333333333',
  changed_at: '2026-11-02T05:00:00.000000Z',
  endpoint: 'citations',
  date: '2026-10-07',
  offset: '1000',
  key: '["https://site.example/Čapek","Ω 日本 😀"]',
  timed: 'true',
  follows: 'true',
}

describe('a cursor of /days', () => {
  test('returns the position that it was written with', async () => {
    expect(await readCursor(await writeCursor(POSITION, BINDING), BINDING)).toEqual(POSITION)
    expect(await readCursor(await writeCursor(START, {}), {})).toEqual(START)
  })

  test('is valid only with its endpoint, brand and first day, which a request need not have', async () => {
    const cursor = await writeCursor(POSITION, BINDING)
    for (const other of [
      {},
      { ...BINDING, endpoint: undefined },
      { ...BINDING, endpoint: 'visibility' },
      { ...BINDING, brandId: undefined },
      { ...BINDING, fromDate: '2026-10-02' },
    ])
      expect(await readCursor(cursor, other)).toBeNull()
  })

  test('is invalid when it was altered, or is one of pages', async () => {
    const cursor = await writeCursor(POSITION, BINDING)
    const altered = Array.from(
      cursor,
      (character, at) => cursor.slice(0, at) + (character === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    )
    for (const each of [...altered, 'd', 'dA', 'dAA', `${cursor}A`, `c${cursor.slice(1)}`])
      expect([each, await readCursor(each, BINDING)]).toEqual([each, null])
  })

  test('starts again when it has an outdated format', async () => {
    const values = ['0', ...Object.values(POSITION)]
    const { endpoint, brandId, fromDate } = BINDING
    expect(await readCursor(await sign(values, [endpoint, brandId, fromDate], 'days', 'd'), BINDING)).toEqual(
      {
        ...START,
        organization: POSITION.organization,
      },
    )
  })
})
