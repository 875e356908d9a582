import { expect, test } from 'vitest'
import { findOperations } from '../../bundle/find-workers.ts'
import description from '../../functions/openapi.json' with { type: 'json' }
import { BASE } from '../../lib/app.ts'
import { openapi } from '../../lib/openapi/document.ts'

test('the description that is served is what the Workers say of themselves', async () => {
  const examples = Object.entries(description.paths).map(([path, { get }]) => [
    path.slice(BASE.length),
    get.responses[200].content['application/json'].example,
  ])
  expect(openapi(await findOperations(), Object.fromEntries(examples))).toEqual(description)
})
