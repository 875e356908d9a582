import { expect, test } from 'vitest'
import { PARAMETER_EXAMPLES } from '../../cli/openapi/examples.ts'
import { findOperations } from '../../cli/workers/find-workers.ts'
import document from '../../functions/openapi.json' with { type: 'json' }
import { BASE } from '../../lib/http/app.ts'
import { openapi } from '../../site/reference/openapi/document.ts'
import { responseValidator } from '../../site/reference/openapi/response-validator.ts'

test('functions/openapi.json is up to date', async () => {
  const operations = await findOperations()
  expect(Object.keys(document.paths)).toEqual(operations.map(({ path }) => BASE + path))
  const bodies = Object.entries(document.paths).map(([path, { get }]) => [
    path.slice(BASE.length),
    get.responses[200].content['application/json'].example,
  ])
  const examples = { parameters: PARAMETER_EXAMPLES, bodies: Object.fromEntries(bodies) }
  expect(openapi(operations, examples)).toEqual(document)
})

test('a field that the document lacks fails the validator, but not the document', () => {
  const conforms = responseValidator(document)
  const path = '/api/export/v1/brands'
  const { example } = document.paths[path].get.responses[200].content['application/json']
  const headers = new Headers({ 'Content-Type': 'application/json', 'X-Request-Id': 'a' })
  const check = (body: object) => () => conforms({ path, status: '200', headers, body })
  expect(check(example)).not.toThrow()
  expect(check({ ...example, more: 1 })).toThrow(/additional properties/)
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false')
})

test('links lead to operations, with values that the examples have', () => {
  const operations = Object.values(document.paths).map(({ get }) => get)
  const ids = operations.map(({ operationId }) => operationId)
  for (const { responses } of operations) {
    const { links, content } = responses[200]
    const { example } = content['application/json']
    for (const { operationId, parameters } of Object.values(links)) {
      expect(ids).toContain(operationId)
      for (const [name, expression] of Object.entries(parameters)) {
        const [, pointer] = String(expression).split('#/')
        if (pointer === undefined) expect(expression).toBe(`$request.query.${name}`)
        else
          expect(
            pointer
              .split('/')
              .reduce<unknown>((value, member) => Reflect.get(Object(value), member), example),
            expression,
          ).not.toBeUndefined()
      }
    }
  }
  expect(Object.keys(operations[0]?.responses[200].links ?? {})).toEqual(ids.slice(1))
})

test('clients that are generated read every number in 64 bits', () => {
  const formats = new Set<string>()
  JSON.parse(JSON.stringify(document), (_, part) => {
    const [type] = [part?.type].flat()
    if (type === 'number' || type === 'integer') formats.add(`${type} ${part.format}`)
    return part
  })
  expect([...formats].sort()).toEqual(['integer int64', 'number double'])
})
