import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, inject, onTestFinished, test } from 'vitest'
import { findOperations } from '../../bundle/find-workers.ts'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { DEMO, seedDemo } from '../../drizzle/seed/demo.ts'
import description from '../../functions/openapi.json' with { type: 'json' }
import { openapi } from '../../lib/openapi/document.ts'
import { captureExamples, EXAMPLE } from '../../lib/openapi/examples.ts'
import { call } from '../support/call.ts'
import { withClient } from '../support/database.ts'
import { startOwnService } from '../support/own-service.ts'
import { prepare } from '../support/schema.ts'

test('is served without a key, as OpenAPI 3.1 of version 1.0.0', async () => {
  const { status, text } = await call('/openapi.json')
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual(description)
  expect(description).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
})

test('lints clean', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(description), config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('has examples that are answers of the demo data', async () => {
  // The embedded PostgreSQL runs one statement at a time: other tests' requests would wait for those of the seed.
  const own = inject('realPostgres') ? undefined : await startOwnService({ databaseUrl: undefined })
  if (own) onTestFinished(own.close)
  const databaseUrl = own?.databaseUrl ?? inject('databaseUrl')
  await withClient(databaseUrl, async (client) => {
    if (own) await prepare(client)
    await seedDemo(client, EXAMPLE.seeded)
    await refreshAll(client)
  })
  const operations = await findOperations()
  const key = DEMO.keys.find(({ label }) => label === 'enterprise')?.key ?? ''
  const demo = { url: own?.url ?? inject('serviceUrl'), key, brandId: DEMO.brandId }
  expect(openapi(operations, await captureExamples(operations, demo))).toEqual(description)
}, 180_000)

test('describes one operation for each Worker that takes a key', async () => {
  const operations = await findOperations()
  expect(Object.keys(description.paths).sort()).toEqual(
    operations.map(({ path }) => `/api/export/v1${path}`).sort(),
  )
  expect(operations.length).toBeGreaterThanOrEqual(7)
})
