import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, inject, test } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { BASE } from '../../lib/http/app.ts'
import { type Answer, call } from '../fixtures/call.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

// The examples are responses of the demo data: .ci/run captures them again and compares. Schemathesis checks the
// service against the document: test/engines/schemathesis.test.ts.

const db = database()

test('is served without a key as OpenAPI 3.1, with the addresses of the requested host', async () => {
  const { status, text } = await call('/openapi.json')
  expect(status).toBe(200)
  const { externalDocs } = document
  const url = inject('serviceUrl')
  expect(JSON.parse(text)).toEqual({
    ...document,
    externalDocs: { ...externalDocs, url: url + externalDocs.url },
    servers: [{ url }],
  })
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
})

test('passes the linter', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { 'operation-tag-defined': 'error' },
  })
  const { text } = await call('/openapi.json')
  const problems = await lintFromString({ source: text, config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

type Query = Readonly<Record<string, string>>

const operations = Object.entries(document.paths).map(([path, { get }]) => ({
  path: path.slice(BASE.length),
  operationId: get.operationId,
  links: Object.values(get.responses[200].links),
}))

/** Returns the requests to which the links of a response lead. An expression without a value sends no parameter. */
function follow(path: string, query: Query, response: Answer) {
  const evaluate = (expression: string): unknown => {
    const [source = '', pointer = ''] = expression.split('#/')
    if (source !== '$response.body') return query[source.replace('$request.query.', '')]
    return pointer.split('/').reduce((value, name) => Reflect.get(value, name), JSON.parse(response.text))
  }
  const links = operations.find((operation) => operation.path === path)?.links ?? []
  return links.map(({ operationId, parameters }) => ({
    path: operations.find((operation) => operation.operationId === operationId)?.path ?? '',
    query: Object.fromEntries(
      Object.entries(parameters).flatMap(([name, expression]) => {
        const value = evaluate(expression)
        return value === undefined ? [] : [[name, String(value)]]
      }),
    ),
  }))
}

test('its links lead from a brand to each metric, and from a page to the next one', async () => {
  const { key, brandId } = await tenant(db)
  const metrics = follow('/brands', {}, await call('/brands', { key }))
  expect(metrics.map(({ path }) => path)).toEqual(
    operations.map(({ path }) => path).filter((path) => path !== '/brands'),
  )
  for (const { path, query } of metrics) {
    await fillDaily(db, { name: path.slice(1), brandId, rows: 1001, first: '2024-01-01', days: 1001 })
    const request = { ...query, fromDate: '2024-01-01', toDate: '2026-10-31' }
    const first = await call(path, { key, query: request })
    const [next] = follow(path, request, first)
    expect(next?.path).toBe(path)
    const last = await call(path, { key, ...next })
    expect([first.data.length, last.status, last.data?.length], path).toEqual([1000, 200, 1])
  }
})
