import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../cli/days.ts'
import { type FetchWindow, fetchWindows, type KnownDay, pagesOf } from '../cli/windows.ts'

/** Returns days from the last one of October on. Those that are in the copy have a minus. */
const daysOf = (rows: readonly number[]): KnownDay[] =>
  rows.map((count, index) => ({
    date: addDays('2026-10-31', index),
    rows: Math.abs(count),
    isNeeded: count > 0,
  }))

const requestsOf = (windows: readonly FetchWindow[]): number =>
  windows.reduce((sum, { rows }) => sum + pagesOf(rows), 0)

test.each<[string, number[], [from: string, to: string, rows: number][]]>([
  ['nothing when nothing is needed', [-5, 0], []],
  [
    'needed days over others that fit into the same pages, across months as well',
    [400, -200, 300, 100, -2001, 1],
    [
      ['2026-10-31', '2026-11-03', 1000],
      ['2026-11-05', '2026-11-05', 1],
    ],
  ],
  ['days over days without rows', [600, 0, 400], [['2026-10-31', '2026-11-02', 1000]]],
  [
    'a day with the next one, not with the one before, where only this saves a request',
    [500, -900, 600, 400],
    [
      ['2026-10-31', '2026-10-31', 500],
      ['2026-11-02', '2026-11-03', 1000],
    ],
  ],
  [
    'no others when that saves nothing',
    [1000, -500, 500],
    [
      ['2026-10-31', '2026-10-31', 1000],
      ['2026-11-02', '2026-11-02', 500],
    ],
  ],
])('joins %s', (_, rows, windows) => {
  expect(fetchWindows(daysOf(rows)).map(({ from, to, rows }) => [from, to, rows])).toEqual(windows)
})

/** Returns every way to join the needed days. */
function partitions(days: readonly KnownDay[]): FetchWindow[][] {
  const start = days.findIndex(({ isNeeded }) => isNeeded)
  if (start < 0) return [[]]
  const from = days[start]?.date ?? ''
  let rows = 0
  return days.slice(start).flatMap((last, index) => {
    rows += last.rows
    const window = { from, to: last.date, rows }
    const rest = () => partitions(days.slice(start + index + 1))
    return last.isNeeded ? rest().map((others) => [window, ...others]) : []
  })
}

test('no other way to join needed days takes fewer requests', () => {
  const rows = fc.oneof(fc.integer({ min: -1500, max: 1500 }), fc.constantFrom(-1000, -500, 500, 1000))
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 9 }), (counts) => {
      const days = daysOf(counts)
      const windows = fetchWindows(days)
      expect(partitions(days)).toContainEqual(windows)
      expect(requestsOf(windows)).toBe(Math.min(...partitions(days).map(requestsOf)))
    }),
  )
})
