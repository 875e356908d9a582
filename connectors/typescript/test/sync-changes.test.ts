import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withBrands } from '../cli/brands.ts'
import { fetchWindows, isNeeded, type KnownDay, listAlone, listTogether, pagesOf } from '../cli/changes.ts'
import { addDays } from '../cli/days.ts'
import { BrandsMoved } from '../cli/errors.ts'
import { folderStore } from '../cli/folder-store.ts'
import { createProgress } from '../cli/progress.ts'
import { listChanges } from '../cli/sync-brand.ts'
import { fakeApi, META, page } from './fake-api.ts'

const days = (...known: readonly [date: string, rows: number, isKept?: 'kept'][]): KnownDay[] =>
  known.map(([date, rows, isKept]) => ({ date, rows, isNeeded: isKept === undefined }))

test('joins adjacent days, across months as well, in parts of one month', () => {
  const found = fetchWindows(
    days(
      ['2026-10-31', 2],
      ['2026-11-01', 3],
      ['2026-11-02', 4],
      ['2026-11-03', 2_000, 'kept'],
      ['2026-11-04', 1],
    ),
  )
  expect(found).toEqual([
    {
      from: '2026-10-31',
      to: '2026-11-02',
      rows: 9,
      parts: [
        { from: '2026-10-31', to: '2026-10-31' },
        { from: '2026-11-01', to: '2026-11-02' },
      ],
    },
    { from: '2026-11-04', to: '2026-11-04', rows: 1, parts: [{ from: '2026-11-04', to: '2026-11-04' }] },
  ])
})

test('joins days over others that fit into the same pages', () => {
  const found = fetchWindows(
    days(
      ['2026-10-01', 400],
      ['2026-10-02', 200, 'kept'],
      ['2026-10-03', 400],
      ['2026-10-04', 2_001, 'kept'],
      ['2026-10-05', 1],
    ),
  )
  expect(found).toMatchObject([
    {
      from: '2026-10-01',
      to: '2026-10-03',
      rows: 1_000,
      parts: [
        { from: '2026-10-01', to: '2026-10-01' },
        { from: '2026-10-03', to: '2026-10-03' },
      ],
    },
    { from: '2026-10-05', to: '2026-10-05', rows: 1 },
  ])
})

test('never sends more requests than one window over all days', () => {
  const day = fc.record({ rows: fc.integer({ min: 0, max: 2_500 }), isNeeded: fc.boolean() })
  fc.assert(
    fc.property(fc.array(day, { minLength: 1, maxLength: 90 }), (known) => {
      const all = known.map((each, index) => ({ ...each, date: addDays('2026-09-01', index) }))
      const windows = fetchWindows(all)
      const requests = windows.reduce((sum, { rows }) => sum + pagesOf(rows), 0)
      expect(requests).toBeLessThanOrEqual(pagesOf(all.reduce((sum, { rows }) => sum + rows, 0)))
      const parts = windows.flatMap((window) => window.parts)
      const isFetched = ({ date }: KnownDay) => parts.some(({ from, to }) => from <= date && date <= to)
      expect(all.filter(isFetched)).toEqual(all.filter(({ isNeeded }) => isNeeded))
    }),
  )
})

const file = { path: '', sha256: '', size: 0, version: '', from: '2026-10-03', through: '5', schema: '' }
const listed = { brandId: META.brandId, endpoint: 'visibility', totals: {}, digest: '' }
const unproven = { ...listed, date: '2026-10-07', rows: 1, changedAt: '5' }
const STATE = {
  token: null,
  fromDate: '2026-01-01',
  files: { 'visibility/2026-10': file },
  unproven: {
    'visibility/2026-10-07': unproven,
    'visibility/2026-08-02': { ...unproven, date: '2026-08-02' },
  },
  scope: {},
}

test.for([
  ['a later change', { date: '2026-10-04', rows: 0, changedAt: '6' }, true],
  ['a change that the file has', { date: '2026-10-04', rows: 1, changedAt: '5' }, false],
  ['a day before the first of the file', { date: '2026-10-02', rows: 1, changedAt: '4' }, true],
  ['an unproven day', unproven, true],
  ['a day of a month without a file', { date: '2026-08-01', rows: 1, changedAt: '1' }, true],
  ['an unproven day that has emptied', { date: '2026-08-02', rows: 0, changedAt: '6' }, true],
  ['an empty day of a month without a file', { date: '2026-08-01', rows: 0, changedAt: '6' }, false],
] as const)('whether a day is needed: %s', ([, day, expected]) => {
  expect(isNeeded(STATE, { ...listed, ...day })).toBe(expected)
})

const change = (date: string, rows: number, changed_at: string, brand_id = META.brandId) => ({
  brand_id,
  endpoint: 'visibility',
  date,
  rows,
  totals: {},
  changed_at,
})

const LISTING = { fromDate: undefined }
const brandOf = (brandId: string, token: string | null, fromDate = META.fromDate) => ({
  brandId,
  state: { token, fromDate },
})

test('keeps the last change of a day that changes between two pages', async () => {
  const { api } = fakeApi([
    page([change('2026-10-01', 1, '6'), change('2026-10-02', 1, '7')], 'second'),
    page([change('2026-10-01', 2, '8')]),
  ])
  const found = await listAlone({ ...LISTING, api }, { ...brandOf(META.brandId, '5'), received: null })
  expect(found.days.map(({ date, rows }) => [date, rows])).toEqual([
    ['2026-10-01', 2],
    ['2026-10-02', 1],
  ])
  expect(found.token).toBe('8')
})

test('lists all days when the plan reaches further back', async () => {
  const { api, requests } = fakeApi([page([]), page([change('2026-10-01', 1, '4')])])
  const brand = brandOf(META.brandId, '5', '2026-10-02')
  expect(await listAlone({ ...LISTING, api }, { ...brand, received: '7' })).toMatchObject({
    isFull: true,
    // What the list does not have is later than what was received before it.
    token: '7',
    fromDate: '2026-10-01',
  })
  expect(requests.map(({ url }) => url.searchParams.get('since'))).toEqual(['5', null])
})

const DIGEST = { brandsDigest: '52dc3ba8379705e' }
const OF_ALL = { 'X-Brands-Digest': DIGEST.brandsDigest }
const OF_OTHERS = { 'X-Brands-Digest': '000000000000000' }

test('lists the brands with the latest token together', async () => {
  const { api, requests } = fakeApi([
    page([change('2026-10-01', 1, '6', 'a'), change('2026-10-01', 1, '7', 'other')], null, OF_ALL),
  ])
  const brands = [brandOf('a', '5'), brandOf('b', '5'), brandOf('c', '4'), brandOf('d', null)]
  const found = await listTogether({ ...LISTING, ...DIGEST, api }, [
    ...brands,
    brandOf('e', '5', '2026-10-02'),
  ])
  expect([...found]).toMatchObject([
    ['a', { token: '7', isFull: false, days: [{ date: '2026-10-01', changedAt: '6' }] }],
    ['b', { token: '7', isFull: false, days: [] }],
  ])
  expect(requests.map(({ url }) => [...url.searchParams.keys()])).toEqual([['since']])
})

test('does not use a list with a page of other brands than those that were listed', async () => {
  const { api } = fakeApi([
    page([change('2026-10-01', 1, '6', 'a')], 'second', OF_ALL),
    page([], null, OF_OTHERS),
  ])
  const found = listTogether({ ...LISTING, ...DIGEST, api }, [brandOf('a', '5'), brandOf('b', '5')])
  await expect(found).rejects.toBeInstanceOf(BrandsMoved)
})

describe('work with the brands of the key', () => {
  const brands = (id: string, headers: Record<string, string> = OF_ALL) => page([{ id }], null, headers)

  test('begins again with the brands that are listed then, and returns the first result', async () => {
    const { api } = fakeApi([brands('a'), brands('b', OF_OTHERS)])
    const found = withBrands(api, async ({ listed, brandsDigest }) => {
      if (brandsDigest === DIGEST.brandsDigest) throw new BrandsMoved()
      return listed
    })
    expect(await found).toEqual([{ id: 'b' }])
  })

  test('ends when the brands change all the time', async () => {
    const { api, requests } = fakeApi(Array(9).fill(brands('a')))
    const work = () => Promise.reject(new BrandsMoved())
    await expect(withBrands(api, work)).rejects.toThrow('Run sync again.')
    expect(requests).toHaveLength(5)
  })

  test('ends with any other error, and without a digest', async () => {
    const { api, requests } = fakeApi([brands('a'), brands('a', {})])
    await expect(withBrands(api, () => Promise.reject(new Error('Other.')))).rejects.toThrow('Other.')
    await expect(withBrands(api, async () => {})).rejects.toThrow('lacks X-Brands-Digest')
    expect(requests).toHaveLength(2)
  })
})

test('asks for one brand only when no other has its token', async () => {
  const { api, requests } = fakeApi([page([])])
  const found = await listTogether({ ...LISTING, ...DIGEST, api }, [brandOf('a', '5'), brandOf('b', '4')])
  expect([...found]).toMatchObject([['a', { token: '5', days: [] }]])
  expect(requests.map(({ url }) => url.searchParams.get('brandId'))).toEqual(['a'])
  expect(await listTogether({ ...LISTING, ...DIGEST, api }, [brandOf('a', null)])).toEqual(new Map())
})

test('does not fetch unproven days that were not listed', async () => {
  const { api } = fakeApi([])
  const store = folderStore('none')
  const copy = {
    store,
    brandId: META.brandId,
    state: { ...STATE, token: '5' },
    path: '',
    ownPath: '',
    isStored: true,
    attempts: new Map(),
  }
  const sync = {
    api,
    store,
    fromDate: undefined,
    toDate: '2026-10-06',
    progress: createProgress({ quiet: true }),
  }
  const unlisted = { token: '5', fromDate: '2026-08-02', isFull: false, asOf: null, days: [] }
  const { days: needed } = await listChanges(sync, copy, new Map([[META.brandId, unlisted]]))
  expect(needed).toEqual([STATE.unproven['visibility/2026-08-02']])
})
