import { describe, expect, test } from 'vitest'
import { indentJson } from '../../site/browser/json.ts'
import { fieldsOf } from '../../site/reference/formula.ts'
import { drawnLines, figuresOf } from '../fixtures/site/chart-lines.ts'
import { reference } from '../fixtures/site/reference.ts'

const formulas = reference.endpoints.flatMap(({ id, formula, fields }) =>
  formula ? [{ id, formula, fields }] : [],
)

test.each(formulas)('the formula of $id sums fields of its rows', ({
  formula: { part, whole, per, breakdown },
  fields,
}) => {
  const names = fields.map(({ name }) => name)
  for (const side of [part, whole]) {
    expect(fieldsOf(side).length).toBeGreaterThan(0)
    expect(names).toEqual(expect.arrayContaining(fieldsOf(side)))
  }
  for (const field of [per, breakdown]) if (field !== undefined) expect(names).toContain(field)
})

/** Returns the figures of rows of a day, by the names of their lines. */
function evaluate(id: string, rows: readonly object[]) {
  const formula = formulas.find((each) => each.id === id)?.formula
  if (formula === undefined) throw new Error(`${id} has no formula`)
  const dated = rows.map((row) => ({ date: '2026-03-01', ...row }))
  return figuresOf(drawnLines({ rows: dated, formula: { ...formula, breakdown: undefined } }))
}

describe('evaluating a formula', () => {
  test('accepts numbers as text', () => {
    const rows = [{ positive_weight: '1.5000', negative_weight: '0.5000' }]
    expect(evaluate('sentiment', rows)).toEqual({ Rate: 75 })
  })

  test('recovers the recommending answers of each day, per entity', () => {
    const rows = [
      { entity_name: 'Us', recommended_rate: 33.3333, judged_answers: 3 },
      { entity_name: 'Them', recommended_rate: 0, judged_answers: 3 },
      { entity_name: 'Us', recommended_rate: 100, judged_answers: 1 },
    ]
    expect(evaluate('recommended-rate', rows)).toEqual({ Us: 50, Them: 0 })
  })
})

describe('indenting JSON', () => {
  test('keeps the text of numbers, and punctuation in strings', () => {
    expect(indentJson('{"data":[{"a":100.0000,"b":"x{,:\\"}"},{"a":null,"b":""}],"c":[],"d":{}}')).toBe(`{
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

  test('keeps the values where the browser lacks JSON.rawJSON, and text that is not JSON', () => {
    const rawJSON = Object.getOwnPropertyDescriptor(JSON, 'rawJSON')
    Reflect.deleteProperty(JSON, 'rawJSON')
    expect(indentJson('{"a":100.0000}')).toBe('{\n  "a": 100\n}')
    if (rawJSON) Object.defineProperty(JSON, 'rawJSON', rawJSON)
    expect(indentJson('<html>{"a":1}')).toBe('<html>{"a":1}')
  })
})
