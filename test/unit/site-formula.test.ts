import { describe, expect, test } from 'vitest'
import { type Figure, figuresOf, sum } from '../../site/browser/figure.ts'
import { indented } from '../../site/browser/json.ts'
import { fieldsOf, javascript, write } from '../../site/formula.ts'
import { reference } from '../support/reference.ts'

const formulas = reference.endpoints.flatMap(({ id, formula, fields }) =>
  formula ? [{ id, formula, fields }] : [],
)

test('five metrics have a figure of a window', () => {
  expect(formulas.map(({ id }) => id)).toEqual([
    'citation-share',
    'competitors',
    'recommended-rate',
    'sentiment',
    'visibility',
  ])
})

test.each(formulas)('the formula of $id adds up fields of its rows', ({
  formula: { part, whole, per },
  fields,
}) => {
  const names = fields.map(({ name }) => name)
  for (const side of [part, whole]) {
    expect(fieldsOf(side).length).toBeGreaterThan(0)
    expect(names).toEqual(expect.arrayContaining(fieldsOf(side)))
  }
  if (per !== undefined) expect(names).toContain(per)
})

/** The two sides as the page's script has them. */
const figureOf = (id: string): Figure => {
  const formula = formulas.find((each) => each.id === id)?.formula
  if (formula === undefined) throw new Error(`${id} has no formula`)
  const compile = (side: string) =>
    new Function('sum', `return (rows) => ${write(side, javascript('rows'))}`)(sum)
  return { part: compile(formula.part), whole: compile(formula.whole) }
}

describe('the figure of rows', () => {
  test('is made of sums, and not of the days’ rates', () => {
    const rows = [
      { visible_count: 1, total_prompts: 1, visibility_rate: 100 },
      { visible_count: 0, total_prompts: 3, visibility_rate: 0 },
    ]
    expect(figuresOf(figureOf('visibility'), rows, undefined)).toEqual(new Map([['', 25]]))
  })

  test('takes numbers as they were written', () => {
    const rows = [{ positive_weight: '1.5000', negative_weight: '0.5000' }]
    expect(figuresOf(figureOf('sentiment'), rows, undefined)).toEqual(new Map([['', 75]]))
  })

  test('recovers the recommended answers of a day, for each entity', () => {
    const rows = [
      { entity_name: 'Us', recommended_rate: 33.3333, judged_answers: 3 },
      { entity_name: 'Them', recommended_rate: 0, judged_answers: 3 },
      { entity_name: 'Us', recommended_rate: 100, judged_answers: 1 },
    ]
    expect(figuresOf(figureOf('recommended-rate'), rows, 'entity_name')).toEqual(
      new Map([
        ['Us', 50],
        ['Them', 0],
      ]),
    )
  })

  test('has no value where nothing can be divided by', () => {
    const rows = [{ positive_weight: 0, negative_weight: 0, neutral_mentions: 4 }]
    expect(figuresOf(figureOf('sentiment'), rows, undefined)).toEqual(new Map([['', null]]))
  })
})

describe('JSON with a line a member', () => {
  test('keeps numbers as they were written, and texts with marks in them', () => {
    expect(indented('{"data":[{"a":100.0000,"b":"x{,:\\"}"},{"a":null,"b":""}],"c":[],"d":{}}')).toBe(`{
  "data": [
    {
      "a": 100.0000,
      "b": "x{,:\\"}"
    },
    {
      "a": null,
      "b": ""
    }
  ],
  "c": [],
  "d": {}
}`)
  })

  test.each([
    '{}',
    '[]',
    '[[],{}]',
    '[1,[2,{"a":[3]}]]',
    '"a"',
    '1',
    'null',
  ])('means the same: %s', (json) => {
    expect(JSON.parse(indented(json))).toEqual(JSON.parse(json))
    expect(indented(json)).toBe(JSON.stringify(JSON.parse(json), null, 2))
  })
})
