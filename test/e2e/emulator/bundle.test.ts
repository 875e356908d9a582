import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle } from '../../../bundle/bundle.ts'
import { gzipLimit } from '../../support/bundle-limit.ts'

test('keeps Workers small: 120 KiB gzip each, 40 for the description and its page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'))
  try {
    const bundles = await bundle(undefined, folder)
    const tooLarge = bundles.filter(({ name, gzip }) => gzip > gzipLimit(name))
    expect(tooLarge).toEqual([])
    expect(bundles.length).toBeGreaterThanOrEqual(9)
  } finally {
    await rm(folder, { recursive: true })
  }
})
