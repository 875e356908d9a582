import { beforeEach, expect, test } from 'vitest'
import type { RunStatement } from '../../../drizzle/db/refresh.ts'
import { publish } from '../../../lib/share/publish.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, brand, organization, place, prompt, refresh } from '../../fixtures/rows.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

const { db } = await isolatedPool()
const objects = new Map<string, Uint8Array>()

beforeEach(async () => {
  objects.clear()
  await db.query(`${CLEARANCE}; truncate daily.files, daily.versions, daily.published_brands`)
})

const statement: RunStatement = async (sql, params) => (await db.query(sql, [...params])).rows[0] ?? null

const bucket = {
  put: async (key: string, value: Uint8Array) => objects.set(key, value),
  delete: async (keys: string[]) => {
    for (const key of keys) objects.delete(key)
  },
}

/** Publishes, and returns the committed versions. */
const publishAll = async (options: { run?: RunStatement; compact?: boolean } = {}) =>
  (await publish({ run: statement, bucket, compact: false, ...options })).versions

const query = async (sql: string, values: readonly unknown[] = []) =>
  (await db.query({ text: sql, values: [...values], rowMode: 'array' })).rows

const first = async (...statement_: Parameters<typeof query>) => (await query(...statement_))[0] ?? []

/** Publishes a brand whose answers are of some days. */
async function published(...days: readonly string[]) {
  const id = await brand(db, await organization(db))
  const said = { ...(await place(db)), prompt: await prompt(db, id) }
  for (const day of days) await answer(db, { ...said, at: `${day}T09:00:00Z` })
  await refresh(db)
  await publishAll()
  return { id, said }
}

/** Runs an effect once, before the first statement whose text includes `text`. */
function before(text: string, effect: () => Promise<unknown>): RunStatement {
  let isDone = false
  return async (sql, params) => {
    if (sql.includes(text) && !isDone) {
      isDone = true
      await effect()
    }
    return statement(sql, params)
  }
}

test('commits a version when something changed, and only then', async () => {
  const { id, said } = await published('2026-10-01')
  expect(await publishAll()).toEqual([])
  await db.query('update brands set active = false where id = $1', [id])
  expect(await publishAll(), 'the files of an inactive brand stay as they are').toEqual([])
  await db.query(`update brands set name = 'Globex' where id = $1`, [id])
  expect(await publishAll()).toHaveLength(1)
  await answer(db, { ...said, at: '2026-10-02T09:00:00Z' })
  await refresh(db)
  expect(await publishAll()).toHaveLength(1)
  await db.query('delete from brands where id = $1', [id])
  await refresh(db)
  expect(await publishAll()).toHaveLength(1)
  expect(await query('select from daily.files where added is not null and removed is null')).toEqual([])
})

test('publishes a brand again that a killed publisher had staged', async () => {
  const { id } = await published('2026-10-01')
  await db.query(`update brands set name = 'Globex' where id = $1`, [id])
  await db.query(
    `insert into daily.files (id, set_id, metric, brand_id) select uuid, uuid, 'brands', $1 from gen_random_uuid() as uuid`,
    [id],
  )
  expect(await publishAll()).toHaveLength(1)
})

test('commits although days change with each object that is written', async () => {
  const { said } = await published('2026-10-01')
  let seconds = 0
  const change = async () => {
    seconds += 1
    await answer(db, {
      ...said,
      at: `2026-10-0${1 + (seconds % 2)}T09:00:${String(seconds).padStart(2, '0')}Z`,
    })
    await refresh(db)
  }
  await change()
  const put = async (key: string, value: Uint8Array) => {
    if (seconds < 50) await change()
    return bucket.put(key, value)
  }
  const { versions } = await publish({ run: statement, bucket: { ...bucket, put }, compact: false })
  expect(versions).toHaveLength(1)
  expect(seconds).toBeLessThan(50)
})

test('a run that ends early commits the brands that it has finished, and the next one begins with the others', async () => {
  const { id, said } = await published('2026-10-01')
  const other = await published('2026-10-01')
  const changeBoth = async (at: string) => {
    for (const both of [said, other.said]) await answer(db, { ...both, at })
    await refresh(db)
  }
  const finished = async () =>
    (await query('select brand_id from daily.published_brands order by through desc'))[0]?.[0]
  await changeBoth('2026-10-01T10:00:00Z')
  const limits = { sets: 1, bytes: 1_000_000, objectBytes: 1_000_000 }
  const short = () => {
    let steps = 0
    const isOver = () => steps > 0
    const onStep = () => {
      steps += 1
    }
    return publish({ run: statement, bucket, compact: false, limits, isOver, onStep })
  }
  expect(await short()).toMatchObject({ versions: [expect.any(Number)], isComplete: false })
  const before = await finished()
  await changeBoth('2026-10-01T11:00:00Z')
  expect(await short()).toMatchObject({ versions: [expect.any(Number)], isComplete: false })
  expect([before, await finished()].sort()).toEqual([id, other.id].sort())
})

test('reads no more than the given bytes, and no rows of a day that has more', async () => {
  const id = await brand(db, await organization(db))
  for (const [day, rows] of [
    ['2026-10-01', 30],
    ['2026-10-02', 30],
    ['2026-10-03', 300],
  ] as const) {
    await fillDaily(db, { name: 'citation-share', brandId: id, rows, first: day, days: 1, from: rows })
    await db.query(`select daily.list_changes('{citation_share}', array[$1::uuid], array[$2::date])`, [
      id,
      day,
    ])
  }
  const [json] = await first(`select daily.read_unpublished('', 200, 5000)`)
  const { sets, more } = JSON.parse(json)
  expect(more).toBe(true)
  expect(sets.map((set: { rows: unknown[] }) => set.rows.length)).toEqual([30])
  const [all] = await first(`select daily.read_unpublished('', 200, 8000)`)
  expect(
    JSON.parse(all).sets.map((set: { rows: unknown[]; more: boolean }) => [set.rows.length, set.more]),
  ).toEqual([
    [30, false],
    [30, false],
    [0, true],
    [1, false],
  ])
})

test('keeps the version that was current so many days ago, and what it names', async () => {
  const { said } = await published('2026-10-01')
  const [kept] = await first('select version from daily.versions')
  for (const days of [40, 31, 10]) {
    await answer(db, { ...said, at: '2026-10-01T10:00:00Z' })
    await refresh(db)
    await publishAll()
    await db.query(
      `update daily.versions set committed_at = now() - $1 * interval '1 day' where version = (select max(version) from daily.versions)`,
      [days],
    )
    await db.query(`update daily.versions set committed_at = now() - interval '50 days' where version = $1`, [
      kept,
    ])
  }
  await publishAll()
  expect(
    await query(`select extract(day from now() - committed_at)::int from daily.versions order by version`),
  ).toEqual([[31], [10]])
  const [oldest] = await first('select min(version) from daily.versions')
  expect(await query('select from daily.files where removed < $1', [oldest])).toEqual([])
  expect([...objects.keys()].sort()).toEqual(
    (await query(`select id || '.parquet' from daily.files order by 1`)).flat(),
  )
})

test('replaces an object that is lost while a publisher is at work', async () => {
  const { said } = await published('2026-10-01')
  const [lost] = await first(`select id from daily.files where metric = 'visibility'`)
  await answer(db, { ...said, at: '2026-10-02T09:00:00Z' })
  await refresh(db)
  await publishAll({
    run: before('daily.commit_version', () => query('select daily.mark_lost($1)', [[lost]])),
  })
  await publishAll()
  expect(
    await query(
      `select first::text from daily.files where metric = 'visibility' and removed is null order by 1`,
    ),
  ).toEqual([['2026-10-01'], ['2026-10-02']])
  expect(await query('select from daily.files where id = $1', [lost]), 'the lost file').toEqual([])
  const [oldest, added] = await first(
    'select (select min(version) from daily.versions), (select max(added) from daily.files)',
  )
  expect(oldest, 'changes that remove the lost rows cannot be read').toBeGreaterThan(added)
})

test('commits nothing that was read before an object was lost, however often that happened', async () => {
  await published('2026-10-01')
  const lose = () =>
    query(`select daily.mark_lost(array_agg(id)) from daily.files where metric = 'visibility'`)
  await lose()
  const [json] = await first(`select daily.read_unpublished('', 200, 100000)`)
  await lose()
  await query('select daily.commit_version($1, 30)', [JSON.stringify(JSON.parse(json).brands)])
  expect(await query('select through from daily.published_brands')).toEqual([['']])
})

test('reads days in place of a month whose object is lost', async () => {
  await published('2026-01-01', '2026-01-02')
  await publishAll({ compact: true })
  const months = `select id from daily.files where metric = 'visibility' and first < last and added is not null and removed is null`
  const [lost] = await first(months)
  await query('select daily.mark_lost($1)', [[lost]])
  expect(await query(months)).toEqual([])
  await publishAll()
  expect(objects.has(`${lost}.parquet`)).toBe(false)
  await publishAll({ compact: true })
  expect(await query(months)).toHaveLength(1)
})

test('commits no part of a set whose other objects were swept', async () => {
  const { said } = await published('2026-10-01')
  await answer(db, { ...said, at: '2026-10-02T09:00:00Z' })
  await refresh(db)
  const sweep = async () => {
    await query(
      `update daily.files set staged_at = now() - interval '25 hours' where id = (select id from daily.files where added is null limit 1)`,
    )
    await query('select daily.expired_files(10)')
  }
  await expect(publishAll({ run: before('daily.complete', sweep) })).rejects.toThrow('swept')
  expect(await publishAll()).toHaveLength(1)
})
