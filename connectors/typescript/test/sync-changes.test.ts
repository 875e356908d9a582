import { expect, test } from 'vitest'
import { fetchWindows, listDays } from '../cli/changes.ts'
import { fakeApi, META, page } from './fake-api.ts'

const STATE = {
  token: null,
  fromDate: '2026-01-01',
  files: { 'visibility/2026-10': { sha256: '', from: '2026-10-03', through: '5' } },
}

type Day = readonly [date: string, rows: number, changedAt?: string]

const windows = (isFull: boolean, days: readonly Day[]) =>
  fetchWindows(
    'visibility',
    {
      isFull,
      token: '9',
      fromDate: '2026-01-01',
      days: days.map(([date, rows, changedAt = '9']) => ({
        brandId: 'brand',
        endpoint: 'visibility',
        date,
        rows,
        totals: {},
        digest: '',
        changedAt,
      })),
    },
    STATE,
  )

test('joins adjacent days, across months as well', () => {
  const days: Day[] = [
    ['2026-10-31', 2],
    ['2026-11-02', 4],
    ['2026-11-01', 3],
    ['2026-11-04', 1],
  ]
  expect(windows(false, days)).toEqual([
    {
      from: '2026-10-31',
      to: '2026-11-02',
      rows: 9,
      months: [
        { from: '2026-10-31', to: '2026-10-31' },
        { from: '2026-11-01', to: '2026-11-02' },
      ],
    },
    { from: '2026-11-04', to: '2026-11-04', rows: 1, months: [{ from: '2026-11-04', to: '2026-11-04' }] },
  ])
})

test('when all days are listed, joins them except around days with rows that are there already', () => {
  const days: Day[] = [
    ['2026-09-01', 1],
    ['2026-09-30', 1],
    ['2026-10-05', 7, '5'],
    ['2026-10-08', 0, '5'],
    ['2026-10-09', 1],
    ['2026-11-20', 1],
  ]
  expect(windows(true, days)).toMatchObject([
    { from: '2026-09-01', to: '2026-09-30', rows: 2 },
    { from: '2026-10-09', to: '2026-11-20', rows: 2 },
  ])
})

test('leaves out days that a file has, and empty days of months without a file', () => {
  const days: Day[] = [
    ['2026-08-01', 0],
    ['2026-10-04', 1, '5'],
    ['2026-10-06', 0],
    ['2026-10-02', 1, '4'],
  ]
  expect(windows(false, days)).toMatchObject([
    { from: '2026-10-02', to: '2026-10-02', rows: 1 },
    { from: '2026-10-06', to: '2026-10-06', rows: 0 },
  ])
})

const change = (date: string, rows: number, changed_at: string) => ({
  endpoint: 'visibility',
  date,
  rows,
  totals: {},
  changed_at,
})

test('keeps the last change of a day that changes between two pages', async () => {
  const { api } = fakeApi([
    page([change('2026-10-01', 1, '6'), change('2026-10-02', 1, '7')], 'second'),
    page([change('2026-10-01', 2, '8')]),
  ])
  const last = { token: '5', fromDate: META.fromDate }
  const { days, token } = await listDays(api, { brandId: META.brandId, fromDate: undefined }, last)
  expect(days.map(({ date, rows }) => [date, rows])).toEqual([
    ['2026-10-01', 2],
    ['2026-10-02', 1],
  ])
  expect(token).toBe('8')
})

test('lists all days when the plan reaches further back, and keeps the token when nothing is listed', async () => {
  const { api, requests } = fakeApi([page([]), page([change('2026-10-01', 1, '4')]), page([])])
  const window = { brandId: META.brandId, fromDate: undefined }
  expect(await listDays(api, window, { token: '5', fromDate: '2026-10-02' })).toMatchObject({
    isFull: true,
    token: '4',
    fromDate: '2026-10-01',
  })
  expect(await listDays(api, window, { token: '5', fromDate: '2026-10-01' })).toMatchObject({
    isFull: false,
    token: '5',
  })
  expect(requests.map(({ url }) => url.searchParams.get('since'))).toEqual(['5', null, '5'])
})
