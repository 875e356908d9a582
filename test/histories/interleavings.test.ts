import { describe, expect, inject, test } from 'vitest'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { deferForeignKeys, dropForeignKeys } from '../fixtures/foreign-keys.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { PARTITION_CHANGES, partitionAnswers, RESTORE_PARTITIONS } from '../fixtures/partitions.ts'
import { prepare } from '../fixtures/schema.ts'
import { UNCHECKED_CHANGES } from '../interleavings/changes.ts'
import { type Ground, openInterleavings } from '../interleavings/interleavings.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_125)
const RUNS = tries(30)

type Scenario = Omit<Ground, 'url'> & { readonly name: string; readonly make: typeof prepare }

const SCENARIOS: readonly Scenario[] = [
  { name: 'foreign keys', make: prepare, changes: UNCHECKED_CHANGES, needReplica: true },
  {
    name: 'foreign keys that are checked at the end of a transaction',
    make: async (client) => {
      await prepare(client)
      await deferForeignKeys(client)
    },
    changes: UNCHECKED_CHANGES,
    needReplica: false,
  },
  {
    name: 'no foreign keys',
    make: async (client) => {
      await prepare(client)
      await dropForeignKeys(client)
    },
    changes: UNCHECKED_CHANGES,
    needReplica: false,
  },
  {
    name: 'partitions and no foreign keys',
    make: async (client) => {
      await prepare(client)
      await dropForeignKeys(client)
      await partitionAnswers(client)
    },
    restore: RESTORE_PARTITIONS,
    changes: { ...UNCHECKED_CHANGES, ...PARTITION_CHANGES },
    needReplica: false,
  },
]

describe.runIf(inject('realPostgres'))(
  'transactions of writers, a resolver and refreshes that overlap (skipped without DATABASE_URL)',
  () => {
    test.for(
      SCENARIOS,
    )(`${RUNS} random interleavings leave every day computed and as_of true, with $name (HOSTILE_SEED=${SEED})`, {
      timeout: scaledTimeout(240_000),
    }, async ({ make, ...ground }) => {
      const { url, drop } = await isolatedDatabase(make)
      const { play, close } = await openInterleavings({ url, ...ground })
      try {
        for (let seed = SEED; seed < SEED + RUNS; seed += 1)
          expect(await play(seed), `HOSTILE_SEED=${seed}`).toEqual([])
      } finally {
        await close()
        await drop()
      }
    })
  },
)
