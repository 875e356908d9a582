import { describe, expect, test } from 'vitest'
import { addPage, completeDays } from '../../site/browser/loaded-rows.ts'
import { linesOf } from '../fixtures/site/chart-lines.ts'

const formula = { part: ['hits'], whole: ['all'] }

describe('the lines of a chart', () => {
  test('apply the formula to the rows of each day', () => {
    const rows = [
      { date: '2026-02-27', hits: 1, all: 1 },
      { date: '2026-02-27', hits: 0, all: 3 },
      { date: '2026-02-28', hits: 1, all: 2 },
    ]
    expect(linesOf({ rows, formula, name: 'Rate' })).toEqual({
      unit: 'day',
      points: [
        { first: '2026-02-27', last: '2026-02-27', days: 1 },
        { first: '2026-02-28', last: '2026-02-28', days: 1 },
      ],
      lead: false,
      lines: [{ name: 'Rate', figure: (2 / 6) * 100, values: [25, 50] }],
    })
  })

  test('have gaps on days without rows or without a value', () => {
    const rows = [
      { date: '2026-02-27', hits: 1, all: 1 },
      { date: '2026-03-01', hits: 0, all: 0 },
      { date: '2026-03-02', hits: 0, all: 1 },
    ]
    const { points, lines } = linesOf({ rows, formula, name: 'Rate' })
    expect(points.map(({ first }) => first)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
    expect(lines[0]?.values).toEqual([100, null, null, 0])
  })

  const mixed = [
    { date: '2026-03-01', who: 'low', hits: 1, all: 4 },
    { date: '2026-03-01', who: 'none', hits: 0, all: 0 },
    { date: '2026-03-01', who: 'high', hits: 3, all: 4 },
    { date: '2026-03-02', who: 'high', hits: 4, all: 4 },
  ]

  test('are one for each value of the field per, in the order of their figures', () => {
    const { lines } = linesOf({ rows: mixed, formula: { ...formula, per: 'who' }, name: 'Rate' })
    expect(lines).toEqual([
      { name: 'high', figure: 87.5, values: [75, 100] },
      { name: 'low', figure: 25, values: [25, null] },
      { name: 'none', figure: null, values: [null, null] },
    ])
  })

  test('are the whole, then one for each value of the field breakdown', () => {
    const { lines } = linesOf({
      rows: mixed,
      formula: { ...formula, breakdown: 'who' },
      name: 'Rate',
    })
    expect(lines.map(({ name }) => name)).toEqual(['Rate', 'high', 'low', 'none'])
    expect(lines[0]?.values).toEqual([50, 100])
  })

  test('divide the sums of weeks beyond 120 days, and where days have few answers', () => {
    const rows = [
      { date: '2026-01-03', hits: 1, all: 1 },
      { date: '2026-01-11', hits: 0, all: 3 },
      { date: '2026-01-12', hits: 1, all: 1 },
    ]
    const until = (date: string, all = 2000) =>
      linesOf({ rows: [...rows, { date, hits: all / 2, all }], formula, name: 'Rate' })
    expect(until('2026-05-02')).toMatchObject({ unit: 'day', points: { length: 120 } })
    expect(until('2026-01-30', 270)).toMatchObject({ unit: 'day', points: { length: 28 } })
    expect(until('2026-01-31', 290)).toMatchObject({ unit: 'day', points: { length: 29 } })
    expect(until('2026-01-31', 280)).toMatchObject({ unit: 'week', points: { length: 4 } })
    const { unit, points, lines } = until('2026-05-03')
    expect(unit).toBe('week')
    expect([points[0], points[1], points.at(-1)]).toEqual([
      { first: '2026-01-03', last: '2026-01-11', days: 9 },
      { first: '2026-01-12', last: '2026-01-18', days: 7 },
      { first: '2026-04-27', last: '2026-05-03', days: 7 },
    ])
    expect(lines[0]?.values).toEqual([25, 100, ...Array(14).fill(null), 50])
  })

  test('have a point a day where one line has enough answers', () => {
    const day = { who: 'often', hits: 50, all: 600 }
    const rare = Array.from({ length: 30 }, (_, line) => ({ who: `${line}`, hits: 0, all: 1 }))
    const rows = [{ date: '2026-01-01', ...day }, ...rare.map((row) => ({ date: '2026-02-28', ...row }))]
    expect(linesOf({ rows, formula: { ...formula, per: 'who' }, name: 'Rate' }).unit).toBe('day')
  })

  test('are none without rows', () => {
    expect(linesOf({ rows: [], formula, name: 'Rate' }).lines).toEqual([])
  })
})

describe('loaded rows', () => {
  const [first, second, third] = ['2026-03-01', '2026-03-02', '2026-03-03'].map((date) => ({ date }))
  const rows = [first, second, third].filter((row) => row !== undefined)
  const one = addPage(undefined, '', { rows: rows.slice(0, 2), next: 'c1' })

  test('add the next page, and leave out the day that the next page may continue', () => {
    expect(completeDays(one)).toEqual([first])
    expect(completeDays(addPage(one, 'c1', { rows: rows.slice(1), next: null }))).toEqual([
      first,
      second,
      second,
      third,
    ])
  })

  test('start again with any other page, and leave out the day that a page before it may have begun', () => {
    expect(completeDays(addPage(one, '', { rows: rows.slice(2), next: null }))).toEqual([third])
    expect(completeDays(addPage(one, 'c7', { rows: rows.slice(1), next: null }))).toEqual([third])
  })
})
