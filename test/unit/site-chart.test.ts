import { describe, expect, test } from 'vitest'
import { spread } from '../../site/charts/drawing.ts'
import { type Lines, linesOf, rateOf, splitsOf, type View } from '../../site/charts/lines.ts'
import { csvOf } from '../../site/charts/saved-files.ts'
import { addRows, type Metric, type Row } from '../../site/charts/sums.ts'
import { fieldsOf } from '../../site/reference/formula.ts'
import { reference } from '../fixtures/site/reference.ts'

type Drawn = Partial<View> & { readonly rows: readonly Row[]; readonly formula: Metric['formula'] }

/** Returns the lines of the chart of a formula over rows, split as it is by default. */
function drawnLines({ rows, formula, ...view }: Drawn): Lines {
  const sums = addRows(formula)
  for (const row of rows) sums.add(row)
  const [split] = splitsOf({ title: 'Rate', formula })
  if (split === undefined) throw new Error('The formula has no lines')
  return linesOf(sums.result(), { split, ...view })
}

/** Returns the rate of each line at each point, by its name. */
const ratesOf = ({ lines, points }: Lines): Record<string, (number | null)[]> =>
  Object.fromEntries(
    lines.map((line) => [line.name, points.map((_, point) => rateOf(line, point, point + 1))]),
  )

/** Returns the rate of each line over all days, by its name. */
const figuresOf = ({ lines }: Lines): Record<string, number | null> =>
  Object.fromEntries(lines.map((line) => [line.name, rateOf(line)]))

const formula = { part: ['hits'], whole: ['all'] }
const per = { ...formula, per: 'entity_name' }
const breakdown = { ...formula, breakdown: 'model_id' }

/** Returns the day that is this many days after 2026-01-01. */
const day = (days: number) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10)

describe('the lines of a chart', () => {
  test('apply the formula to the rows of each day, and have gaps on days without rows or without a value', () => {
    const rows = [
      { date: '2026-02-27', hits: 1, all: 1 },
      { date: '2026-02-27', hits: 0, all: 3 },
      { date: '2026-03-01', hits: 0, all: 0 },
      { date: '2026-03-02', hits: 0, all: 1 },
    ]
    const lines = drawnLines({ rows, formula })
    const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']
    expect(lines.points.map(({ first }) => first)).toEqual(days)
    expect(ratesOf(lines)).toEqual({ Rate: [25, null, null, 0] })
    expect(figuresOf(lines)).toEqual({ Rate: 20 })
    const empty = drawnLines({ rows, formula, from: '2026-02-28', to: '2026-03-01' })
    expect(ratesOf(empty)).toEqual({ Rate: [null, null] })
    expect(drawnLines({ rows: [], formula: breakdown })).toEqual({ unit: 'day', points: [], lines: [] })
  })

  test('read numbers as text, and recover the counts of rates', () => {
    const rows = [{ date: '2026-03-01', hits: '1.5000', all: '2.0000' }]
    expect(figuresOf(drawnLines({ rows, formula }))).toEqual({ Rate: 75 })
    const rates = [
      { date: '2026-03-01', entity_name: 'Us', rate: 33.3333, all: 3 },
      { date: '2026-03-01', entity_name: 'Them', rate: 0, all: 3 },
      { date: '2026-03-02', entity_name: 'Us', rate: 100, all: 1 },
    ]
    const part = [{ rate: 'rate', of: 'all' }]
    expect(figuresOf(drawnLines({ rows: rates, formula: { ...per, part } }))).toEqual({ Us: 50, Them: 0 })
  })

  const entities = [
    { date: '2026-03-01', entity_name: 'low', hits: 1, all: 4 },
    { date: '2026-03-01', entity_name: 'none', hits: 0, all: 0 },
    { date: '2026-03-01', entity_name: 'high', hits: 3, all: 4 },
    { date: '2026-03-02', entity_name: 'high', hits: 4, all: 4 },
  ]

  test('are one for each value of the field per, in the order of their rates, after that of the brand', () => {
    expect(Object.entries(ratesOf(drawnLines({ rows: entities, formula: per })))).toEqual([
      ['high', [75, 100]],
      ['low', [25, null]],
      ['none', [null, null]],
    ])
    const brand = { date: '2026-03-01', entity_name: 'high', is_brand: true, hits: 0, all: 4 }
    const { lines } = drawnLines({ rows: [...entities, brand], formula: per })
    expect(lines.map(({ name, lead }) => [name, lead])).toEqual([
      ['high', true],
      ['high', false],
      ['low', false],
      ['none', false],
    ])
    expect(lines[0]).toMatchObject({ color: 0, part: [0, 0], whole: [4, 0] })
  })

  test('are the total, then one for each model, or for each market, of the rows that pass a filter', () => {
    const rows = [
      { date: '2026-03-01', model_id: 'a', market: 'US', hits: 1, all: 2 },
      { date: '2026-03-01', model_id: 'b', market: 'US', hits: 2, all: 2 },
      { date: '2026-03-01', model_id: 'b', market: 'UK', hits: 0, all: 4 },
    ]
    const markets = { label: 'Markets', field: 'market', total: true }
    const figures = (view: Partial<View>) => figuresOf(drawnLines({ rows, formula: breakdown, ...view }))
    const third = (2 / 6) * 100
    expect(figures({})).toEqual({ Total: 37.5, a: 50, b: third })
    expect(figures({ split: markets })).toEqual({ Total: 37.5, US: 75, UK: 0 })
    const where = { model_id: 'b', other: 'x' }
    expect(figures({ where, split: markets })).toEqual({ Total: third, US: 100, UK: 0 })
  })

  const manyDays = (days: number, row: object) =>
    Array.from({ length: days }, (_, index) => ({ date: day(index), hits: 1, ...row }))

  test('divide the sums of ISO weeks beyond 60 days, of which the first and the last have the days that are shown', () => {
    const until = (days: number) => drawnLines({ rows: manyDays(days, { all: 60 }), formula })
    expect(until(60)).toMatchObject({ unit: 'day', points: { length: 60 } })
    // 2026-01-01 is a Thursday.
    const { unit, points, lines } = until(65)
    expect([unit, points.length, points[0], points[1], points.at(-1)]).toEqual([
      'week',
      10,
      { first: day(0), last: day(3), days: 4 },
      { first: day(4), last: day(10), days: 7 },
      { first: day(60), last: day(64), days: 5 },
    ])
    expect(lines[0]).toMatchObject({
      part: [4, 7, 7, 7, 7, 7, 7, 7, 7, 5],
      whole: [240, 420, 420, 420, 420, 420, 420, 420, 420, 300],
    })
    expect(drawnLines({ rows: manyDays(3, { all: 10 }), formula, unit: 'week' }).points).toEqual([
      { first: day(0), last: day(2), days: 3 },
    ])
    // A week that begins without rows is whole.
    const gap = [0, 60, 70].map((index) => ({ date: day(index), hits: 1, all: 4 }))
    expect(drawnLines({ rows: gap, formula, unit: 'week' }).points.filter(({ days }) => days < 7)).toEqual([
      { first: day(0), last: day(3), days: 4 },
      { first: day(67), last: day(70), days: 4 },
    ])
  })

  test('cost what the rows cost, however far the days are apart', () => {
    const rows = ['0001-01-01', '2026-11-20', '9999-12-31'].map((date) => ({ date, hits: 1, all: 4 }))
    const { points, lines } = drawnLines({ rows, formula, unit: 'day' })
    // A gap shows its first days.
    expect(points.map(({ first }) => first).filter((_, point) => point % 32 < 2)).toEqual([
      ...['0001-01-01', '0001-01-02', '2026-11-20', '2026-11-21', '9999-12-31'],
    ])
    expect(lines[0]?.part.filter(Boolean)).toEqual([1, 1, 1])
    const weeks = drawnLines({ rows, formula, unit: 'week' })
    expect(ratesOf(weeks).Rate?.filter((rate) => rate !== null)).toEqual([25, 25, 25])
    expect(weeks.points.length).toBeLessThan(20)
  })

  test('have a point a week where the lines have few answers, whatever the total has', () => {
    const models = (all: number) => ['a', 'b', 'c'].flatMap((model_id) => manyDays(21, { model_id, all }))
    expect(drawnLines({ rows: models(21), formula: breakdown }).unit).toBe('day')
    expect(drawnLines({ rows: models(20), formula: breakdown }).unit).toBe('week')
    expect(drawnLines({ rows: models(1), formula: breakdown, from: day(1) }).unit).toBe('day')
  })

  test('keep the colours of their names in every period, and with every filter', () => {
    const names = Array.from({ length: 10 }, (_, index) => `entity ${index}`)
    const rows = names.flatMap((entity_name, index) =>
      manyDays(index === 4 ? 5 : 2, { entity_name, hits: index, all: 10 }),
    )
    const colors = (options: object) =>
      Object.fromEntries(
        drawnLines({ rows, formula: per, ...options }).lines.map(({ name, color }) => [name, color]),
      )
    const all = colors({})
    // The two with the fewest hits have none.
    expect(Object.keys(all).filter((name) => all[name] === null)).toEqual(['entity 1', 'entity 0'])
    const used = Object.values(all).filter((color) => color !== null)
    expect(used.sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(colors({ from: day(3) })).toEqual(all)
    const where = { entity_name: 'entity 1' }
    expect(colors({ where })).toEqual({ 'entity 1': null })
    // None is a competitor's, while there are six.
    const models = (count: number) => {
      const parts = names.slice(0, count).map((model_id) => ({ date: day(0), model_id, hits: 1, all: 10 }))
      return drawnLines({ rows: parts, formula: breakdown }).lines.map(({ color }) => color ?? 0)
    }
    expect(models(6).sort((left, right) => left - right)).toEqual([0, 7, 8, 9, 10, 11, 12])
    expect(new Set(models(8)).size).toBe(9)
  })
})

test.each([
  { ends: [10, 50, 90], places: [10, 50, 90] },
  { ends: [50, 50, 51, 90], places: [40, 50, 60, 90] },
  { ends: [0, 2, 99, 100], places: [0, 10, 90, 100] },
])('the names of lines at $ends are centred at their ends, within the plot', ({ ends, places }) => {
  expect(spread(ends, { distance: 10, from: 0, to: 100 }).map(Math.round)).toEqual(places)
})

test.each(reference.endpoints.filter((each) => each.formula))('the formula of $id sums fields of its rows', ({
  formula,
  fields,
}) => {
  const { part = [], whole = [], per, breakdown } = formula ?? {}
  const names = fields.map(({ name }) => name)
  for (const side of [part, whole]) {
    expect(fieldsOf(side).length).toBeGreaterThan(0)
    expect(names).toEqual(expect.arrayContaining(fieldsOf(side)))
  }
  for (const field of [per, breakdown]) if (field !== undefined) expect(names).toContain(field)
})

test('the CSV of a chart makes each name a text to a spreadsheet, and no number', async () => {
  const names = ['=HYPERLINK("https://a.example")', '+1', '-1', '@a', '\ta', '\ra', '\na', '＝1', 'a=1']
  const rows = names.map((entity_name, hits) => ({ date: '2026-03-01', entity_name, hits: -hits, all: 16 }))
  expect(await csvOf(drawnLines({ rows, formula: per })).text()).toBe(
    [
      `first_day,last_day,"'=HYPERLINK(""https://a.example"")",'+1,'-1,'@a,'\ta,"'\ra","'\na",'＝1,a=1\r\n`,
      '2026-03-01,2026-03-01,0.0000,-6.2500,-12.5000,-18.7500,-25.0000,-31.2500,-37.5000,-43.7500,-50.0000\r\n',
    ].join(''),
  )
})
