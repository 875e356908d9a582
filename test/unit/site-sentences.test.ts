import { expect, test } from 'vitest'
import { splitsOf } from '../../site/charts/lines.ts'
import { addRows, type Row } from '../../site/charts/sums.ts'
import { figuresOf } from '../../site/report/figures.ts'
import { withBrand } from '../../site/report/report-data.ts'
import { summarize } from '../../site/report/sentences.ts'

/** Of how many answers of two days how many have something; a few have another number of answers. */
type Hits = readonly [before: number, now: number, answersBefore?: number, answersNow?: number]

const FORMULAS = {
  visibility: { part: ['hits'], whole: ['answers'], breakdown: 'model_id' },
  competitors: { part: ['hits'], whole: ['answers'], per: 'competitor_name' },
  recommended: { part: ['hits'], whole: ['answers'], per: 'entity_name' },
  share: { part: ['hits'], whole: ['answers'] },
}
const TITLES = { visibility: 'Visibility', competitors: '', recommended: 'Recommended rate', share: 'Share' }

const rowsOf = ([before, now, answersBefore = 1000, answers = 1000]: Hits, values: Row = {}): Row[] => [
  ...(answersBefore < 0 ? [] : [{ ...values, date: '2026-10-01', hits: before, answers: answersBefore }]),
  { ...values, date: '2026-10-02', hits: now, answers },
]

type Name = keyof typeof FORMULAS
type Metrics = { readonly [name in Name]?: readonly Row[] | undefined }

/** Returns the sentence about the second day, compared with the first. */
function sentenceOf(metrics: Metrics): string {
  const names: readonly Name[] = ['visibility', 'competitors', 'recommended', 'share']
  const reports = names.map((name) => {
    const [title, formula] = [TITLES[name], FORMULAS[name]]
    const sums = addRows(formula)
    for (const row of metrics[name] ?? []) sums.add(row)
    return { name, title, about: '', splits: splitsOf({ title, formula }), sums: sums.result() }
  })
  const day = { from: '2026-10-02', to: '2026-10-02' }
  const period = { ...day, before: { from: '2026-10-01', to: '2026-10-01' } }
  return summarize(withBrand(reports, 'Acme').flatMap((metric) => figuresOf(metric, period, {})))
}

const model = (name: string, hits: Hits, market = 'US') => rowsOf(hits, { model_id: name, market })
const rival = (name: string, hits: Hits) => rowsOf(hits, { competitor_name: name })
const entity = (name: string, hits: Hits) => rowsOf(hits, { entity_name: name, is_brand: name === 'Acme' })

test.each<[expected: string, Metrics]>([
  ['Visibility rose from 42 to 49 %.', { visibility: model('a', [420, 490]) }],
  ['Visibility fell from 49 to 42 %.', { visibility: model('a', [490, 420]) }],
  // 42 of 100 against 46 of 100.
  ['Visibility is unchanged at 46 %.', { visibility: model('a', [42, 46, 100, 100]) }],
  [
    'Visibility rose from 41.8 to 42.4 %.',
    { visibility: model('a', [418_000, 424_000, 1_000_000, 1_000_000]) },
  ],
  ['Visibility is 46 %.', { visibility: model('a', [0, 460, -1]) }],
  [
    'Visibility is 46 %; the period before has too few answers to compare.',
    { visibility: model('a', [9, 460, 9]) },
  ],
  ['Too few answers to tell: 9 in this period.', { visibility: model('a', [420, 9, 1000, 9]) }],
  ['No answers in this period.', {}],
])('says how visibility moved beyond the noise: %s', (expected, metrics) => {
  expect(sentenceOf(metrics)).toBe(expected)
})

const VISIBILITY = model('a', [420, 490])

test.each<[expected: string, Metrics['competitors']]>([
  // Others are weaker, or have too few answers.
  [
    'Acme is 5 points ahead of Rival',
    [...rival('Rival', [440, 440]), ...rival('Low', [90, 90]), ...rival('Few', [9, 9, 9, 9])],
  ],
  ['Acme is 5 points behind Rival', rival('Rival', [540, 540])],
  ['Acme is level with Rival', rival('Rival', [480, 480])],
  ['Acme overtook Rival on 2026-10-02 and leads by 9 points', rival('Rival', [500, 400])],
  ['Rival overtook Acme on 2026-10-02 and leads by 11 points', rival('Rival', [300, 600])],
])('says where the brand stands among its competitors: %s', (expected, competitors) => {
  expect(sentenceOf({ visibility: VISIBILITY, competitors })).toContain(
    `Visibility rose from 42 to 49 %; ${expected}`,
  )
})

test('tells the facts furthest from the noise, of all metrics', () => {
  const competitors = [...rival('Rival', [450, 450]), ...rival('Late', [100, 200])]
  const recommended = [...entity('Acme', [300, 310]), ...entity('Rival', [100, 250])]
  const share = rowsOf([200, 250])
  expect(sentenceOf({ visibility: VISIBILITY, competitors, recommended, share })).toBe(
    'Visibility rose from 42 to 49 %; Rival rose from 10 to 25 % in Recommended rate; Late rose from 10 to 20 %.',
  )
})

test('names the weakest model and market beyond the noise', () => {
  const visibility = [
    ...model('a', [420, 490], 'US'),
    ...model('b', [420, 400], 'UK'),
    ...model('few', [0, 0, 9, 9], 'UK'),
  ]
  expect(sentenceOf({ visibility })).toMatch(/\. Weakest model: b \(40 %\)\. Weakest market: UK \(40 %\)\.$/)
  const level = [...model('a', [420, 490], 'US'), ...model('b', [420, 480], 'UK')]
  expect(sentenceOf({ visibility: level })).not.toContain('Weakest')
})
