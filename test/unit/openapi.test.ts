import { expect, test } from 'vitest'
import { findOperations } from '../../bundle/find-workers.ts'
import document from '../../functions/openapi.json' with { type: 'json' }
import { BASE } from '../../lib/app.ts'
import { openapi } from '../../lib/openapi/document.ts'

test('functions/openapi.json is up to date', async () => {
  const operations = await findOperations()
  expect(operations.length).toBeGreaterThanOrEqual(7)
  const examples = Object.entries(document.paths).map(([path, { get }]) => [
    path.slice(BASE.length),
    get.responses[200].content['application/json'].example,
  ])
  expect(openapi(operations, Object.fromEntries(examples))).toEqual(document)
})
