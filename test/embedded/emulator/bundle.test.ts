import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readWorkers } from '../../../bundle/wrangler-config.ts'
import { gzipLimit } from './bundle-limit.ts'

const workers = await readWorkers()

test.for(workers.map(({ name, main }) => [name, main] as const))('%s is small', async ([name, main]) => {
  expect(gzipSync(await readFile(main)).length).toBeLessThanOrEqual(gzipLimit(name))
})
