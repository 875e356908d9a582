import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../site/charts/days.ts'
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

test('joins no others when that saves nothing', () => {
  const windows = fetchWindows(daysOf([1000, -500, 500]))
  expect(windows.map(({ from, to }) => [from, to])).toEqual([
    ['2026-10-31', '2026-10-31'],
    ['2026-11-02', '2026-11-02'],
  ])
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
