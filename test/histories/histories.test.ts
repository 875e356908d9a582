import fc from 'fast-check'
import pg from 'pg'
import { expect, test } from 'vitest'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { histories, play } from '../interleavings/histories.ts'

const { url } = await isolatedPool()

test.for([
  20_261_121, 7, 4_294_967,
])('the stored rows equal the views, copies the stored rows, and causes the changes, after any history of changes and refreshes (seed %i)', {
  timeout: scaledTimeout(240_000),
}, async (seed) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await fc.assert(
      fc.asyncProperty(histories(), async (steps) => {
        expect(await play(client, steps)).toEqual([])
      }),
      { seed, numRuns: tries(40), endOnFailure: true },
    )
  } finally {
    await client.end()
  }
})
