import { expect, test } from 'vitest'
import { differences } from '../../fixtures/differences.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import {
  ATTACH_EARLY,
  addEarly,
  DETACH_EARLY,
  DROP_EARLY,
  partitionAnswers,
} from '../../fixtures/partitions.ts'
import { refresh } from '../../fixtures/rows.ts'
import { prepare } from '../../fixtures/schema.ts'
import { id } from '../../interleavings/changes.ts'
import { BEGINNING } from '../../interleavings/histories.ts'

const { db } = await isolatedPool(async (client) => {
  await prepare(client)
  await partitionAnswers(client)
})

/** The columns and values of an answer on a day of September. */
const answer = (n: number, day: number): string =>
  `(id, prompt_id, model_id, market_id, answered_at)
   values (${id(3, n)}, ${id(2, 0)}, 'model-0', ${id(5, 0)}, '2026-09-${day}T12:00:00Z')`

/** Brings the stored rows up to date, which must then equal the views, and returns the days with rows. */
async function storedDays(): Promise<number[]> {
  await refresh(db)
  expect(await differences(db)).toEqual([])
  const { rows } = await db.query<{ day: number }>(
    'select distinct extract(day from date)::integer as day from daily.visibility order by day',
  )
  return rows.map(({ day }) => day)
}

test('a partition that is detached, dropped or attached takes its rows along', async () => {
  await db.query(`${BEGINNING}; insert into answers_early ${answer(20, 10)}`)
  expect(await storedDays()).toContain(10)
  await db.query(`begin; ${DETACH_EARLY}; commit`)
  expect(await storedDays()).not.toContain(10)
  await db.query(`begin; ${ATTACH_EARLY}; commit`)
  expect(await storedDays()).toContain(10)
  await db.query(`begin; ${DROP_EARLY}; commit`)
  expect(await storedDays()).not.toContain(10)
  await db.query(`begin; ${addEarly(`insert into answers_early ${answer(21, 11)}`)}; commit`)
  expect(await storedDays()).toContain(11)
  await db.query(`insert into answers_early ${answer(22, 12)}`)
  expect(await storedDays()).toEqual(expect.arrayContaining([11, 12]))
})
