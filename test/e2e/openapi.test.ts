import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { call } from '../support/call.ts'

// The examples are responses of the demo data: .ci/run captures them again and compares.

test('is served without a key as OpenAPI 3.1', async () => {
  const { status, text } = await call('/openapi.json')
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual(document)
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
})

test('passes the linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})
