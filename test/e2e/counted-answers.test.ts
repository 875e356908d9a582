import { expect, test } from 'vitest'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { database, prompt } from '../fixtures/rows.ts'
import { scene } from '../fixtures/scene.ts'

const db = database()
const metrics = (await findEndpoints()).filter(({ kind }) => kind === 'metric')

const { brandId, say, rows, rival } = await scene(db)
/** An answer from which every metric gets a row. */
const said = {
  mentions: ['Acme', 'Globex'],
  citations: [{ url: 'https://a.example/', recordedAt: '2026-10-04T00:00:00Z' }],
  phrases: [{ polarity: 'positive', confidence: '0.5' }],
  judged: [
    { competitor: null, recommended: true },
    { competitor: await rival('Globex'), recommended: true },
  ],
}

/** Paths of the metrics that have rows in October 2026. */
async function pathsWithRows(): Promise<string[]> {
  const paths: string[] = []
  for (const { path } of metrics) {
    if ((await rows(path, '2026-10-01', '2026-10-31')).length > 0) paths.push(path)
  }
  return paths
}

test('an error, an answer to a retired prompt or to one that does not count is in no metric', async () => {
  const retired = await prompt(db, brandId, { retired_at: '2026-10-20T00:00:00Z' })
  const uncounted = await prompt(db, brandId, { counts_in_metrics: false })
  await say('2026-10-01T09:00:00Z', { ...said, error: 'timeout' })
  await say('2026-10-01T09:00:00Z', { ...said, error: '' })
  await say('2026-10-01T09:00:00Z', { ...said, prompt: retired })
  await say('2026-10-01T09:00:00Z', { ...said, prompt: uncounted })
  expect(await pathsWithRows()).toEqual([])
})

test('an answer to a branded prompt is in every metric', async () => {
  await say('2026-10-01T09:00:00Z', { ...said, prompt: await prompt(db, brandId, { branded: true }) })
  expect(await pathsWithRows()).toEqual(metrics.map(({ path }) => path))
})
