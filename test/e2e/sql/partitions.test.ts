import { beforeEach, expect, test } from 'vitest'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { differences } from '../../fixtures/differences.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import {
  ATTACH_EARLY,
  addEarly,
  DETACH_EARLY,
  DROP_EARLY,
  EARLY_BOUNDS,
  LIST,
  partitionAnswers,
  partitionOf,
  RESTORE_PARTITIONS,
} from '../../fixtures/partitions.ts'
import { prepare, tableOf } from '../../fixtures/schema.ts'
import { id } from '../../interleavings/changes.ts'
import { BEGINNING, CLEARANCE } from '../../interleavings/histories.ts'

const { db } = await isolatedPool(async (client) => {
  await prepare(client)
  await partitionAnswers(client)
})

/** The columns and values of an answer on a day of September. */
const answer = (n: number, day: number, model = 'model-0'): string =>
  `(id, prompt_id, model_id, market_id, answered_at)
   values (${id(3, n)}, ${id(2, 0)}, '${model}', ${id(5, 0)}, '2026-09-${day}T12:00:00Z')`

const EARLY_DAY = 10
beforeEach(async () => {
  await db.query(`${RESTORE_PARTITIONS}; ${CLEARANCE}; ${BEGINNING}`)
  await db.query(`insert into answers_early ${answer(20, EARLY_DAY)}`)
  await refreshed()
})

/** Brings the stored rows up to date, which must then equal the views. Returns the days with rows, and untracked tables. */
async function refreshed() {
  const client = await db.connect()
  const { untracked } = await refreshAll(client).finally(() => client.release())
  expect(await differences(db)).toEqual([])
  const { rows } = await db.query<{ day: number }>(
    'select distinct extract(day from date)::integer as day from daily.visibility order by day',
  )
  return { days: rows.map(({ day }) => day), untracked }
}

const storedDays = async (): Promise<number[]> => (await refreshed()).days

test('a partition that is detached, dropped or attached takes its rows along', async () => {
  expect(await storedDays()).toContain(EARLY_DAY)
  await db.query(`begin; ${DETACH_EARLY}; commit`)
  expect(await storedDays()).not.toContain(EARLY_DAY)
  await db.query(`begin; ${ATTACH_EARLY}; commit`)
  expect(await storedDays()).toContain(EARLY_DAY)
  await db.query(`begin; ${DROP_EARLY}; commit`)
  expect(await storedDays()).not.toContain(EARLY_DAY)
  await db.query(`begin; ${addEarly(`insert into answers_early ${answer(21, 11)}`)}; commit`)
  expect(await storedDays()).toContain(11)
  await db.query(`insert into answers_early ${answer(22, 12)}`)
  expect(await storedDays()).toEqual(expect.arrayContaining([11, 12]))
})

test('a partition without triggers is named until daily.log_partition tracks it', async () => {
  const early = partitionOf('early')
  await db.query(`begin; ${DROP_EARLY}; commit`)
  await db.query(`
    create table ${early} partition of ${tableOf('answers')}
      ${EARLY_BOUNDS} partition by list (${LIST});
    create table ${early}_zero partition of ${early} for values in ('model-0')`)
  const { rows } = await db.query(
    'select source, base::text, is_partition from daily.untracked_tables() order by base::text',
  )
  expect(rows).toEqual([
    { source: 'answers', base: early, is_partition: true },
    { source: 'answers', base: `${early}_zero`, is_partition: true },
  ])
  expect((await refreshed()).untracked).toMatch(/answers_early, .*answers_early_zero$/)
  await db.query('select daily.log_partition($1::text::regclass, $2)', [early, 'answers'])
  expect((await db.query('select from daily.untracked_tables()')).rowCount).toBe(0)
  await db.query(`insert into answers ${answer(21, 11)}`)
  expect(await refreshed()).toMatchObject({ days: expect.arrayContaining([11]), untracked: null })
  await db.query(`delete from ${early}_zero`)
  expect(await storedDays()).not.toContain(11)
})
