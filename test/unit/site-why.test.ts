import { expect, test } from 'vitest'
import { decompose, pointsOf, startOf } from '../../site/charts/contributions.ts'
import { halvesOf, linesOf } from '../../site/charts/lines.ts'
import { isNoise } from '../../site/charts/noise.ts'
import { addRows } from '../../site/charts/sums.ts'
import { explain } from '../../site/charts/why.ts'
import { seededRandom } from '../fixtures/random.ts'

const PERIODS = {
  before: { from: '2026-10-01', to: '2026-10-01' },
  now: { from: '2026-10-02', to: '2026-10-02' },
}

/** Sums of rows: on each of two days, the hits and answers of a model and market. */
function sumsOf(cells: readonly (readonly [model: string, market: string, ...numbers: readonly number[]])[]) {
  const rows = addRows({ part: ['hits'], whole: ['answers'] })
  for (const [model_id, market, ...numbers] of cells)
    for (const [day, date] of ['2026-10-01', '2026-10-02'].entries())
      rows.add({ date, model_id, market, hits: numbers[2 * day], answers: numbers[2 * day + 1] })
  return rows.result()
}

test('a rate moves by the rates of its parts, and by how many answers each has', () => {
  // From 50 of 200 to 90 of 200: a rises from 40 to 60 %, and b stays at 10 %. Of a come 100, then 140 answers.
  const sums = sumsOf([
    ['a', 'US', 40, 100, 84, 140],
    ['b', 'US', 10, 100, 6, 60],
  ])
  const found = decompose(sums, PERIODS, ['model_id', 'market'])
  const whole = { before: { part: 50, whole: 200 }, now: { part: 90, whole: 200 } }
  // a: 0.6 of all answers on average, times 20 points; and 20 points of share times (50 − 35) %. b: −20 points of share times (10 − 35) %.
  expect(found).toEqual({
    ...whole,
    change: 200,
    byField: {
      model_id: [
        { name: 'a', before: { part: 40, whole: 100 }, now: { part: 84, whole: 140 }, rate: 120, mix: 30 },
        { name: 'b', before: { part: 10, whole: 100 }, now: { part: 6, whole: 60 }, rate: 0, mix: 50 },
      ],
      market: [{ name: 'US', ...whole, rate: 120, mix: 80 }],
    },
  })
})

test('contributions are whole tenths of a point that add up to the change, also of parts without answers in a period', () => {
  const { below } = seededRandom(3)
  for (let count = 0; count < 300; count += 1) {
    const numbers = () => {
      const answers = below(3) * below(50)
      return [below(answers + 1), answers]
    }
    const cells = ['a', 'b', 'c'].flatMap((model) =>
      ['US', 'UK'].map((market) => [model, market, ...numbers(), ...numbers()] as const),
    )
    const found = decompose(sumsOf(cells), PERIODS, ['model_id', 'market'])
    if (found === null) continue
    const rate = ({ part, whole }: { part: number; whole: number }) => (1000 * part) / whole
    expect(Math.abs(found.change - (rate(found.now) - rate(found.before)))).toBeLessThanOrEqual(0.5 + 1e-9)
    for (const contributions of Object.values(found.byField)) {
      expect(contributions.reduce((sum, each) => sum + pointsOf(each), 0)).toBe(found.change)
      expect(contributions.flatMap(({ rate, mix }) => [rate, mix]).every(Number.isInteger)).toBe(true)
    }
  }
  expect(decompose(sumsOf([['a', 'US', 0, 0, 1, 2]]), PERIODS, ['model_id'])).toBeNull()
})

test.each([
  // 50 and 60 of 100: pooled 55 %, deviation 7.04 points. 13.8 points are needed.
  [false, [50, 100], [64, 100]],
  [true, [50, 100], [63, 100]],
  [true, [0, 10], [0, 20]],
  [false, [0, 10], [20, 20]],
])('within the noise: %s, from %j to %j', (expected, [part = 0, whole = 0], [partNow = 0, wholeNow = 0]) => {
  expect(isNoise({ part, whole }, { part: partNow, whole: wholeNow })).toBe(expected)
})

test.each([
  [
    'Visibility rose by 15.0 points to 50.0 %, from the week of 2026-10-02 on. a (+25.0) and US (+25.0) contributed most. b (−10.0) and UK (−10.0) moved the other way.',
    [
      ['a', 'US', 40, 100, 90, 100],
      ['b', 'UK', 30, 100, 10, 100],
    ],
  ],
  [
    'Visibility rose by 6.7 points to 40.0 %, from the week of 2026-10-02 on. b (+8.7) contributed most. a (−10.0) moved the other way.',
    [
      ['a', 'US', 600, 1000, 300, 1000],
      ['b', 'US', 200, 1000, 460, 1000],
      ['c', 'US', 200, 1000, 440, 1000],
    ],
  ],
  [
    'Visibility: unchanged within the noise. 42.0 % of 100, after 40.0 % of 100.',
    [['a', 'US', 40, 100, 42, 100]],
  ],
  ['Visibility: too few answers to compare. 90.0 % of 100, after 0.0 % of 9.', [['a', 'US', 0, 9, 90, 100]]],
] as const)('says in sentences what moved a rate, what moved the other way, and since when: %s', (expected, cells) => {
  const found = decompose(sumsOf(cells), PERIODS, ['model_id', 'market'])
  expect(found && explain('Visibility', found, '2026-10-02')).toBe(expected)
})

test('a change began where the sums differ most from those of the mean rate', () => {
  const rows = addRows({ part: ['hits'], whole: ['answers'] })
  for (let day = 1; day <= 8; day += 1)
    rows.add({ date: `2026-10-0${day}`, hits: day < 6 ? 1 : 5, answers: 10 })
  const sums = rows.result()
  const split = { label: 'Rate', field: undefined, total: false }
  const lines = linesOf(sums, { split, unit: 'day' })
  expect(startOf(lines, 400)?.first).toBe('2026-10-06')
  expect(startOf(lines, -400)).toBeUndefined()
  expect(halvesOf(sums.days.slice(0, 5))).toEqual({
    before: { from: '2026-10-02', to: '2026-10-03' },
    now: { from: '2026-10-04', to: '2026-10-05' },
  })
  expect(halvesOf(['2026-10-01'])).toBeUndefined()
})
