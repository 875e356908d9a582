import { beforeAll, expect, test } from 'vitest'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { database, prompt } from '../fixtures/rows.ts'
import { type Scene, scene } from '../fixtures/scene.ts'

const db = database()
const metrics = (await findEndpoints()).filter(({ kind }) => kind === 'metric')

/** A brand with a competitor, and an answer from which every metric gets a row. */
async function fullScene() {
  const here = await scene(db)
  const rival = await here.rival('Globex')
  const said = {
    mentions: ['Acme', 'Globex'],
    citations: [{ url: 'https://a.example/', recordedAt: '2026-10-04T00:00:00Z' }],
    phrases: [{ polarity: 'positive', confidence: '0.5' }],
    judged: [
      { competitor: null, recommended: true },
      { competitor: rival, recommended: true },
    ],
  }
  return { ...here, rival, said }
}

/** Paths of the metrics that have rows in October 2026. */
async function pathsWithRows({ rows }: Pick<Scene, 'rows'>): Promise<string[]> {
  const paths: string[] = []
  for (const { path } of metrics) {
    if ((await rows(path, '2026-10-01', '2026-10-31')).length > 0) paths.push(path)
  }
  return paths
}

let here: Awaited<ReturnType<typeof fullScene>>
beforeAll(async () => {
  here = await fullScene()
})

test('an error, an answer to a retired prompt or to one that does not count is in no metric', async () => {
  const { brandId, say, said } = here
  const retired = await prompt(db, brandId, { retired_at: '2026-10-20T00:00:00Z' })
  const uncounted = await prompt(db, brandId, { counts_in_metrics: false })
  await say('2026-10-01T09:00:00Z', { ...said, error: 'timeout' })
  await say('2026-10-01T09:00:00Z', { ...said, error: '' })
  await say('2026-10-01T09:00:00Z', { ...said, prompt: retired })
  await say('2026-10-01T09:00:00Z', { ...said, prompt: uncounted })
  expect(await pathsWithRows(here)).toEqual([])
})

test('an answer to a branded prompt is in every metric', async () => {
  const { brandId, say, said } = here
  await say('2026-10-01T09:00:00Z', { ...said, prompt: await prompt(db, brandId, { branded: true }) })
  expect(await pathsWithRows(here)).toEqual(metrics.map(({ path }) => path))
})
