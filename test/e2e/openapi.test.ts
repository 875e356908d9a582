import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { findOperations } from '../../bundle/find-workers.ts'
import description from '../../functions/openapi.json' with { type: 'json' }
import { call } from '../support/call.ts'

// The examples are responses of the demo data: .ci/run captures them again and compares.

test('is served without a key, as OpenAPI 3.1 of version 1.0.0', async () => {
  const { status, text } = await call('/openapi.json')
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual(description)
  expect(description).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
})

test('has no lint error', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(description), config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('describes one operation for each Worker that takes a key', async () => {
  const operations = await findOperations()
  expect(Object.keys(description.paths).sort()).toEqual(
    operations.map(({ path }) => `/api/export/v1${path}`).sort(),
  )
  expect(operations.length).toBeGreaterThanOrEqual(7)
})
