import { expect, test } from 'vitest'
import { mergeMonth, sortedRows } from '../cli/month.ts'
import { toArray } from './fake-api.ts'

async function* rows(version: string, ...days: readonly number[]) {
  for (const day of days) yield { date: `2026-10-0${day}`, version }
}

const part = (from: number, to: number, fetched: AsyncGenerator<{ date: string; version: string }>) => ({
  from: `2026-10-0${from}`,
  to: `2026-10-0${to}`,
  fetch: async () => sortedRows(fetched),
})

test('replaces the days of its parts, and keeps the others', async () => {
  const old = sortedRows(rows('old', 1, 1, 2, 3, 4, 5, 7, 9))
  const parts = [part(2, 4, rows('new', 2, 2, 4)), part(6, 8, rows('new', 8))]
  const merged = await toArray(mergeMonth(old, parts))
  expect(merged.map(({ date, version }) => `${version} ${String(date).at(-1)}`)).toEqual([
    ...['old 1', 'old 1', 'new 2', 'new 2', 'new 4', 'old 5', 'new 8', 'old 9'],
  ])
})

test('leaves out rows of days that were not listed', async () => {
  // A window that runs over several months is fetched once.
  const merged = await toArray(mergeMonth(sortedRows(rows('old')), [part(3, 5, rows('new', 1, 3, 6))]))
  expect(merged.map(({ date }) => date)).toEqual(['2026-10-03'])
})
