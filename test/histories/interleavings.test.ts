import type pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { PARTITION_CHANGES, partitionAnswers, RESTORE_PARTITIONS } from '../fixtures/partitions.ts'
import { prepare } from '../fixtures/schema.ts'
import { UNCHECKED_CHANGES } from '../interleavings/changes.ts'
import { type Ground, openInterleavings } from '../interleavings/interleavings.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_125)
const RUNS = tries(30)

type Scenario = Omit<Ground, 'url'> & { readonly name: string; readonly make: typeof prepare }

/** Makes a database, and alters each foreign key of the raw tables. */
async function prepareWith(client: pg.Client, action: string): Promise<void> {
  await prepare(client)
  await client.query(`do $$
    declare
      key record;
    begin
      for key in
        select conrelid::regclass as base, conname from pg_constraint
        where contype = 'f' and conrelid in (select base from daily.source_tables())
      loop
        execute format('alter table %s ${action}', key.base, key.conname);
      end loop;
    end
    $$`)
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'foreign keys', make: prepare, changes: UNCHECKED_CHANGES, needReplica: true },
  {
    name: 'foreign keys that are checked at the end of a transaction',
    // As Django creates them.
    make: (client) => prepareWith(client, 'alter constraint %I deferrable initially deferred'),
    changes: UNCHECKED_CHANGES,
    needReplica: false,
  },
  {
    name: 'no foreign keys',
    make: (client) => prepareWith(client, 'drop constraint %I'),
    changes: UNCHECKED_CHANGES,
    needReplica: false,
  },
  {
    name: 'partitions and no foreign keys',
    make: async (client) => {
      await prepareWith(client, 'drop constraint %I')
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
