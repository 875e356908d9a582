import { expect, test } from 'vitest'
import { type Change, summarize } from '../../site/report/sentences.ts'

/** Rates of a period and of the one before, of 100 answers each unless a number of answers is given. */
type Rates = readonly [now: number | null, before?: number | null, answers?: number, answersBefore?: number]

const change = (name: string, [now, before, answers = 100, answersBefore = 100]: Rates): Change => ({
  name,
  now: { rate: now, answers },
  before: before === undefined ? undefined : { rate: before, answers: answersBefore },
})

const SENTENCES: readonly [expected: string, visibility: Rates, rival?: Rates][] = [
  ['Visibility rose from 42 to 46 %.', [46, 42]],
  ['Visibility fell from 46 to 42 %.', [42, 46]],
  ['Visibility held at 42 %.', [42.4, 42]],
  ['Visibility rose from 41.8 to 42.4 %.', [42.4, 41.8]],
  ['Visibility is 46 %.', [46]],
  ['Visibility is 0 %.', [0]],
  ['Visibility is 46 %; the period before has too few answers to compare.', [46, 90, 100, 9]],
  ['Visibility is 46 %; the period before has too few answers to compare.', [46, null, 100, 0]],
  ['Too few answers to tell: 9 in this period.', [46, 42, 9]],
  ['Too few answers to tell: 0 in this period.', [null, 42, 0]],
  ['Visibility rose from 42 to 46 %; the lead over Rival shrank from 9 to 2 points.', [46, 42], [44, 33]],
  ['Visibility rose from 42 to 46 %; the lead over Rival grew from 1 to 3 points.', [46, 42], [43, 41]],
  ['Visibility rose from 42 to 46 %; the lead over Rival held at 2 points.', [46, 42], [44, 40.2]],
  ["Visibility fell from 46 to 42 %; Rival's lead grew from 1 to 4 points.", [42, 46], [46, 47]],
  ["Visibility held at 42 %; Rival's lead shrank from 4 to 1 points.", [42, 42], [43, 46]],
  ["Visibility held at 42 %; Rival's lead held at 1 point.", [42, 42], [43, 43.2]],
  ['Visibility rose from 42 to 46 %; the brand overtook Rival and leads by 3 points.', [46, 42], [43, 44]],
  ['Visibility fell from 46 to 42 %; Rival overtook the brand and leads by 1 point.', [42, 46], [43, 44]],
  ['Visibility fell from 46 to 42 %; now level with Rival.', [42, 46], [42.2, 40]],
  ['Visibility held at 42 %; still level with Rival.', [42, 42], [42.2, 42.3]],
  ['Visibility is 46 %; 2 points ahead of Rival.', [46], [44]],
  ['Visibility is 46 %; 1 point behind Rival.', [46], [46.6]],
  ['Visibility is 46 %; level with Rival.', [46], [46]],
  ['Visibility rose from 42 to 46 %; 2 points ahead of Rival.', [46, 42], [44, 30, 100, 9]],
]

test.each(SENTENCES)('%s', (expected, visibility, rival) => {
  // The others are weaker, or have too few answers.
  const others = [change('Low', [9, 90]), change('Few', [90, 90, 9])]
  const competitors = rival === undefined ? others.slice(1) : [...others, change('Rival', rival)]
  expect(summarize({ visibility: change('Total', visibility), competitors, models: [] })).toBe(expected)
})

test.each<[string, Record<string, Rates>]>([
  [' It is highest in a (53 %) and lowest in c (40 %).', { b: [50], a: [53], c: [40], few: [99, 99, 9] }],
  [' It is highest in a (40.4 %) and lowest in b (39.8 %).', { a: [40.4], b: [39.8] }],
  ['', { a: [40.4], b: [40] }],
  ['', { a: [40.4], few: [0, 0, 9] }],
])('names the strongest and the weakest model:%s', (expected, rates) => {
  const models = Object.entries(rates).map(([name, each]) => change(name, each))
  const visibility = change('Total', [46, 42])
  expect(summarize({ visibility, competitors: [], models })).toBe(
    `Visibility rose from 42 to 46 %.${expected}`,
  )
})
