import { expect, test } from 'vitest'
import { dailyVisibility } from '../../drizzle/daily/visibility.ts'
import type { Cell } from '../../lib/db.ts'
import { pageQueries, readPage } from '../../lib/page.ts'
import { loggedLines, refusedWith } from '../support/log.ts'

const lines = loggedLines()

const header = (found: string | null, size: string | null = '2') => ['k', 'o', 'pro', 'b', null, found, size]

const read = (found: string | null, lines: Cell, ...last: Cell[]) =>
  readPage([[JSON.stringify(header(found)), lines, ...last]], null)

test('no row is no page', () => {
  expect(readPage([], null)).toEqual({ header: null, page: { lines: '', rows: 0, next: null } })
})

test('a page without rows has no lines', () => {
  expect(read('0', null, null, null)).toEqual({
    header: header('0'),
    page: { lines: '', rows: 0, next: null },
  })
})

test('a page that is the last one has all lines, and no key that another goes on from', () => {
  expect(read('1', '{}', null, null).page).toEqual({ lines: '{}', rows: 1, next: null })
  expect(read('2', '{},\n[]', '2026-10-01', 'x').page).toEqual({ lines: '{},\n[]', rows: 2, next: null })
})

test('one line more than a page holds is left out, and the next page goes on from the page’s last row', () => {
  expect(read('3', '{},\n[],\n()', '2026-10-01', 'x').page).toEqual({
    lines: '{},\n[]',
    rows: 2,
    next: ['2026-10-01', 'x'],
  })
})

const broken: [string, () => unknown][] = [
  ['lines without a number of rows', () => read('0', '{}')],
  ['a number of rows without lines', () => read('1', null)],
  ['more rows than a page, without lines', () => read('3', null, '2026-10-01', 'x')],
  ['more rows than a page, in one line', () => read('3', '{}', '2026-10-01', 'x')],
  ['more rows than a page, with nothing before the break', () => read('3', ',\n{}', '2026-10-01', 'x')],
  ['more rows than a page, and half a key', () => read('3', '{},\n[],\n()', '2026-10-01', null)],
  ['more rows than a page, and no key', () => read('3', '{},\n[],\n()', null, null)],
  ['an unknown number of rows', () => read(null, '{}')],
  ['a number of rows that is none', () => read('many', '{}')],
  ['an unknown size of pages', () => readPage([[JSON.stringify(header('1', null)), '{}']], null)],
  ['a header that ends early', () => readPage([['["k"]', '{}']], null)],
]

test.each(broken)('%s is half a page, which is 503', (_, work) => {
  expect(refusedWith(work)).toBe(503)
  expect(lines.at(-1)).toMatchObject({ kind: 'TypeError' })
})

test('a key that is no column of the stored rows is a mistake, told at once', () => {
  expect(() => pageQueries({ table: dailyVisibility, key: ['date', 'nothing'] })).toThrow(
    'No column nothing in visibility',
  )
})
