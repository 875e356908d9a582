import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { breakingChanges } from '../../../cli/breaking/changes.ts'
import description from '../../../functions/openapi.json' with { type: 'json' }

const released = JSON.parse(
  await readFile(new URL('../../support/released/openapi.json', import.meta.url), 'utf8'),
)

const PATH = '/api/export/v1/visibility'

/** What would break if the document of the last release were changed. */
function changed(change: (document: typeof description) => void): string[] {
  const document = structuredClone(released)
  change(document)
  return breakingChanges(released, document)
}

test('nothing that the last release promised is taken away', () => {
  expect(breakingChanges(released, description)).toEqual([])
})

/** Sets, or with undefined takes away, what stands at a place of the document. */
const set =
  (place: string, value: unknown) =>
  (document: object): void => {
    const steps = place.split(' ')
    const last = steps.pop() ?? ''
    const holder = steps.reduce((at, step) => Reflect.get(at, step), document)
    if (value === undefined) Reflect.deleteProperty(holder, last)
    else Reflect.set(holder, last, value)
  }

const ROW = 'components schemas VisibilityRow'
const GET = `paths ${PATH} get`
const REQUIRED = description.components.schemas.VisibilityRow.required

describe('what breaks a reader', () => {
  test.for([
    [`paths ${PATH}`, undefined, `${PATH} is gone`],
    [GET, undefined, `GET ${PATH} is gone`],
    [`${ROW} properties market`, undefined, 'the field market of a row of the field data of 200'],
    [`${ROW} required`, REQUIRED.filter((name) => name !== 'market'), 'may be left out now'],
    [`${ROW} properties total_prompts type`, 'string', 'can be string now'],
    [`${ROW} properties total_prompts type`, 'number', 'can be number now'],
    [`${ROW} properties total_prompts type`, ['integer', 'null'], 'can be null now'],
    [`${ROW} properties total_prompts type`, undefined, 'has no type any more'],
    [`${ROW} properties date format`, 'date-time', 'has another format'],
    [`${ROW} properties visibility_rate maximum`, 1000, 'has another maximum'],
    [`${ROW} properties visibility_rate minimum`, undefined, 'has another minimum'],
    ['components schemas Pagination properties pageSize const', 500, 'has another const'],
    [
      'components schemas Meta properties plan enum',
      ['pro', 'agency', 'enterprise', 'free'],
      'can be free now',
    ],
    ['components schemas Meta properties plan enum', undefined, 'can be anything now'],
    [`${ROW} properties market`, { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'has no type any more'],
    ['components schemas Brand properties industry anyOf', [{ type: 'boolean' }], 'has another choice now'],
    ['components schemas Brand properties industry', { type: 'number' }, 'has another choice now'],
    ['components schemas Error properties error type', 'object', 'can be object now'],
    [`${GET} responses 404`, undefined, `404 of ${PATH} is gone`],
    [`${GET} responses 418`, { description: 'A teapot.' }, `418 of ${PATH} is new`],
    [`${GET} responses 200 headers Link`, undefined, 'the header Link'],
    ['components responses 429 headers Retry-After', undefined, 'the header Retry-After'],
    [`${GET} responses 200 content`, { 'text/csv': {} }, 'is no application/json any more'],
    [`${GET} parameters`, description.paths[PATH].get.parameters.slice(0, 2), 'the parameter toDate'],
    ['components parameters fromDate required', true, 'must be given now'],
    ['components parameters fromDate schema format', 'date-time', 'must look otherwise now'],
    ['components parameters cursor schema maxLength', 10, 'must look otherwise now'],
    ['security', [], 'how a key is sent has changed'],
    ['components securitySchemes ApiKey name', 'Authorization', 'the form of keys has changed'],
  ] as const)('%s', ([place, value, sentence]) => {
    expect(changed(set(place, value)).join('\n')).toContain(sentence)
  })

  test('a new parameter that must be given', () => {
    const list = description.paths[PATH].get.parameters
    const more = (required: boolean) => [...list, { name: 'model', in: 'query', required, schema: {} }]
    expect(changed(set(`${GET} parameters`, more(true)))).toEqual([
      `the new parameter model of ${PATH} must be given`,
    ])
    expect(changed(set(`${GET} parameters`, more(false)))).toEqual([])
  })
})

describe('what breaks nobody', () => {
  test.for([
    [`paths /api/export/v1/next`, { get: { responses: {} } }],
    [`${ROW} properties note`, { type: 'string' }],
    [`${ROW} properties total_prompts description`, 'In other words.'],
    [`${ROW} properties visibility_rate maximum`, 99],
    [`${ROW} properties visibility_rate type`, 'integer'],
    ['components schemas Brand properties industry anyOf', [{ type: 'string' }]],
    ['components schemas Brand properties industry', { type: 'string' }],
    ['components schemas Meta properties plan enum', ['pro', 'agency']],
    ['components parameters brandId required', false],
    ['components parameters fromDate schema format', undefined],
    [`${GET} responses 200 headers X-New`, { schema: { type: 'string' } }],
    [`${GET} deprecated`, true],
    ['info version', '1.1.0'],
  ] as const)('%s', ([place, value]) => {
    expect(changed(set(place, value))).toEqual([])
  })
})
