import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readWorkers } from '../../../cli/workers/wrangler-config.ts'

const WORKERS = await readWorkers()

/** Most bytes of a Worker. */
const LIMIT = 455_000

/** KiB after gzip of the Workers that ask no database; the docs contain the reference page with its charts, and the loader. */
const WITHOUT_DATABASE: Readonly<Record<string, number>> = { openapi: 48, docs: 99, llms: 12 }

test.for(WORKERS)('$name is small', async ({ name, main }) => {
  const content = await readFile(main)
  expect(content.length).toBeLessThanOrEqual(LIMIT)
  const zipped = WITHOUT_DATABASE[name]
  if (zipped !== undefined) expect(gzipSync(content).length).toBeLessThanOrEqual(zipped * 1024)
})
