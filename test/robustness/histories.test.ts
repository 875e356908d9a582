import fc from 'fast-check'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { histories, play } from '../support/history.ts'
import { isolatedPool } from '../support/isolated.ts'
import type { Actors } from '../support/passages.ts'

const real = inject('realPostgres')
const { url } = await isolatedPool()

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** A busy machine plays fewer histories. */
const TIME_LIMIT_MS = 20_000

test.for([
  20_261_121, 7, 4_294_967,
])('the stored rows equal the views, and copies the stored rows, after any history of changes and refreshes (seed %i)', async (seed) => {
  const actors: Actors = { first: await connect(), ...(real && { second: await connect(), connect }) }
  const end = performance.now() + TIME_LIMIT_MS
  let played = 0
  try {
    await fc.assert(
      fc.asyncProperty(histories(), async (steps) => {
        if (performance.now() > end) return
        expect(await play(actors, steps)).toEqual([])
        played += 1
      }),
      { seed, numRuns: real ? 30 : 40 },
    )
    expect(played).toBeGreaterThan(3)
  } finally {
    await actors.first.end()
    await actors.second?.end()
  }
})
