import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, inject, test } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { call } from '../fixtures/call.ts'

// The examples are responses of the demo data: .ci/run captures them again and compares. Schemathesis checks the
// service against the document: test/engines/schemathesis.test.ts.

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
