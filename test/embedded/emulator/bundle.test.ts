import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readWorkers } from '../../../bundle/wrangler-config.ts'

/** KiB after gzip of the Workers that ask no database; the docs contain the reference page with its charts. */
const WITHOUT_DATABASE: Readonly<Record<string, number>> = { openapi: 48, docs: 84, llms: 12 }

test.for(await readWorkers())('$name is small', async ({ name, main }) => {
  const limit = (WITHOUT_DATABASE[name] ?? 128) * 1024
  expect(gzipSync(await readFile(main)).length).toBeLessThanOrEqual(limit)
})
