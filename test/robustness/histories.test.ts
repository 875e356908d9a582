import fc from 'fast-check'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { histories, play } from '../support/history.ts'
import { isolatedPool } from '../support/isolated.ts'

const real = inject('realPostgres')
const { url } = await isolatedPool()

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

test.for([
  20_261_121, 7, 4_294_967,
])('the stored rows equal the views after any history of changes and refreshes (seed %i)', async (seed) => {
  const actors = { first: await connect(), second: real ? await connect() : undefined }
  let played = 0
  try {
    await fc.assert(
      fc.asyncProperty(histories(), async (steps) => {
        expect(await play(actors, steps)).toEqual([])
        played += 1
      }),
      // A busy machine plays fewer.
      { seed, numRuns: real ? 30 : 60, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
    )
    expect(played).toBeGreaterThan(3)
  } finally {
    await actors.first.end()
    await actors.second?.end()
  }
})
