import { AbortError } from 'p-retry'
import { beforeEach, expect, test } from 'vitest'
import type { RunStatement } from '../../../drizzle/db/refresh.ts'
import { activateRowSchemas } from '../../../drizzle/db/row-schemas.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { PERIODS_DUE, publishing, SHARE_CLEARANCE } from '../../fixtures/publishing.ts'
import { answer, brand, organization, place, prompt, refresh } from '../../fixtures/rows.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

const { db } = await isolatedPool()
const { objects, statement, bucket, publish } = publishing(db)

beforeEach(async () => {
  objects.clear()
  await db.query(`${CLEARANCE}; ${SHARE_CLEARANCE}`)
})

/** A month that is over. */
const MONTH = daysAgo(60).slice(0, 7)

const query = async (sql: string, values: readonly unknown[] = []) =>
  (await db.query({ text: sql, values: [...values], rowMode: 'array' })).rows

const first = async (...statement_: Parameters<typeof query>) => (await query(...statement_))[0] ?? []

/** The current files of a metric: their periods and first days. */
const objectsOf = async (metric: string) =>
  (
    await query(
      `select period || ' ' || first from daily.current_objects where metric = $1 order by first, period`,
      [metric],
    )
  ).flat()

/** Adds a brand with answers on some days, which give three metrics rows. */
async function answered(...days: readonly string[]) {
  const id = await brand(db, await organization(db))
  const said = {
    ...(await place(db)),
    prompt: await prompt(db, id),
    phrases: [{ polarity: 'neutral', confidence: '1' }],
    judged: [{ competitor: null, recommended: true }],
  }
  for (const day of days) await answer(db, { ...said, at: `${day}T09:00:00Z` })
  await refresh(db)
  return { id, said }
}

/** Runs an effect before the first statement whose text includes `text`. */
function before(text: string, effect: () => Promise<unknown>): RunStatement {
  let isPending = true
  return async (sql, params) => {
    const isFirst = isPending && sql.includes(text)
    if (isFirst) isPending = false
    if (isFirst) await effect()
    return statement(sql, params)
  }
}

/** Gives a metric active fields that are not those of the last migration. */
const haveOtherFields = (metric: string) =>
  db.query('update daily.row_schemas set fields = fields[2:] where metric = $1', [metric])

/** Stores rows of a day of `citation_share`, and lists the day as changed. */
async function fill(brandId: string, day: string, rows: number) {
  await db.query('delete from daily.citation_share where brand_id = $1 and date = $2', [brandId, day])
  await fillDaily(db, { name: 'citation-share', brandId, rows, first: day, days: 1, from: rows })
  await db.query(
    `select daily.list_changes(jsonb_agg(summary || '{"causes": ["citations"]}'))
     from daily.summaries('citation_share', array[$1::uuid], array[$2::date]) as summary`,
    [brandId, day],
  )
}

test('commits a version when something changed, and only then; versions follow one another', async () => {
  const { id, said } = await answered('2026-10-01')
  expect(await publish()).toEqual({ versions: [1], isComplete: true, failures: [] })
  const written = objects.size
  await db.query(`select daily.relist('visibility', $1)`, [id])
  expect((await publish()).versions, 'a listed day with the same rows').toEqual([])
  expect(objects.size).toBe(written)
  await db.query('update brands set active = false where id = $1', [id])
  expect((await publish()).versions, 'the files of an inactive brand stay as they are').toEqual([])
  await db.query(`update brands set name = 'Globex' where id = $1`, [id])
  expect((await publish()).versions).toEqual([2])
  await answer(db, { ...said, at: '2026-09-02T09:00:00Z' })
  await refresh(db)
  expect((await publish()).versions).toEqual([3])
  await db.query('delete from brands where id = $1', [id])
  await refresh(db)
  expect((await publish()).versions).toEqual([4])
  expect(await query('select from daily.current_objects')).toEqual([])
})

test('a large day that changes while it is read waits for the next run, and holds up no other brand', async () => {
  const its = await answered()
  const other = await answered()
  await fill(its.id, '2026-10-01', 300)
  await publish()
  await fill(its.id, '2026-10-01', 301)
  await fill(other.id, '2026-10-01', 1)
  const limits = { brands: 9, sets: 9, rows: 100, bytes: 2000 }
  const run = before('read_part', () => fill(its.id, '2026-10-01', 302))
  expect(await publish({ run, limits })).toMatchObject({ isComplete: false, failures: [] })
  const current = async ({ id }: { id: string }) =>
    query(
      `select sum(rows)::int from daily.current_objects where metric = 'citation_share' and brand_id = $1`,
      [id],
    )
  expect([...(await current(its)), ...(await current(other))]).toEqual([[300], [1]])
  await publish({ limits })
  expect(await current(its)).toEqual([[302]])
})

test('an object that cannot be written holds up its brand alone, until it can', async () => {
  const { said } = await answered('2026-10-01')
  const other = await answered('2026-10-01')
  const limits = { brands: 1, sets: 100, rows: 1000, bytes: 1_000_000 }
  const early = await publish({ limits, isOver: () => objects.size > 0 })
  expect(early, 'the first version has every brand').toMatchObject({ versions: [], isComplete: false })
  expect((await publish()).versions).toEqual([1])
  for (const both of [said, other.said]) await answer(db, { ...both, at: '2026-11-02T09:00:00Z' })
  await refresh(db)
  await db.query(PERIODS_DUE)
  let failing = ''
  const put = async (key: string, value: Uint8Array<ArrayBuffer>) => {
    failing ||= key
    if (key === failing) throw new AbortError('The bucket is away')
    return objects.set(key, value)
  }
  expect(await publish({ bucket: { ...bucket, put } })).toMatchObject({
    versions: [2],
    isComplete: true,
    failures: [new Error('The bucket is away')],
  })
  expect(await query(`select count(distinct brand_id)::int from daily.objects where added = 2`)).toEqual([
    [1],
  ])
  const written = await query('select from daily.staged_objects where bytes is not null')
  expect(written.length, 'what is written waits for the rest').toBeGreaterThan(0)
  expect((await publish()).versions).toEqual([3])
  expect(await query(`select from daily.current_objects where first = '2026-11-02'`)).toHaveLength(6)
})

test('a run ends when the bucket takes nothing', async () => {
  await answered(...Array.from({ length: 30 }, (_, day) => daysAgo(100 + day)))
  const put = async () => {
    throw new AbortError('The bucket is away')
  }
  const run = await publish({ bucket: { ...bucket, put } })
  expect(run).toMatchObject({ versions: [], isComplete: false })
})

test('a brand that cannot be read holds up no other, but the first version', async () => {
  const ids: string[] = []
  for (let brands = 0; brands < 3; brands += 1) ids.push((await answered('2026-10-01')).id)
  const run: RunStatement = async (sql, params) => {
    if (sql.includes('read_batch') && params[1]?.includes(ids[0] ?? '')) throw new Error('canceled')
    return statement(sql, params)
  }
  const failures = [new Error('canceled')]
  expect(await publish({ run })).toEqual({ versions: [], isComplete: true, failures })
  expect((await publish()).versions[0]).toBe(1)
  await db.query(`update brands set name = 'Globex'`)
  expect(await publish({ run })).toEqual({ versions: [2, 3], isComplete: true, failures })
  const renamed = (await query('select brand_id from daily.objects where added > 1 order by 1')).flat()
  expect(renamed).toEqual(ids.slice(1).sort())
  expect((await publish()).versions).toEqual([4])
})

test('a lease of a clock that was set back ends', async () => {
  await answered('2026-10-01')
  await db.query(`update daily.publisher set held_until = now() + interval '1 hour'`)
  expect((await publish()).versions).toEqual([1])
})

test('a metric whose columns have other names is written again, whatever a publisher has read', async () => {
  const { said } = await answered('2026-10-01')
  await publish()
  await answer(db, { ...said, at: '2026-10-02T09:00:00Z' })
  await refresh(db)
  const activate = async () => {
    await haveOtherFields('visibility')
    await db.query('select daily.activate_row_schemas()')
  }
  await expect(publish({ run: before('commit_batch', activate) })).rejects.toThrow(
    'The lease has passed to a migration or repair.',
  )
  expect(await query('select from daily.staged_objects')).toEqual([])
  const client = await db.connect()
  await activateRowSchemas(client).finally(() => client.release())
  await publish()
  expect(
    await query(
      `select first::text from daily.objects where metric = 'visibility' and period = 'day' and added = 2 order by 1`,
    ),
  ).toEqual([['2026-10-01'], ['2026-10-02']])
})

test('a brand that appears while metrics are listed again is written again with its columns, too', async () => {
  await haveOtherFields('citation_share')
  const client = await db.connect()
  const query_ = client.query.bind(client)
  const appear = async () => {
    await fill((await answered()).id, '2026-10-01', 3)
    await publish()
  }
  const hooked = {
    query: async (sql: string, values: string[]) => {
      if (sql.includes('activate_row_schemas')) await appear()
      return query_(sql, values)
    },
  }
  await activateRowSchemas(Object.assign(Object.create(client), hooked)).finally(() => client.release())
  await publish()
  expect(await query(`select from daily.current_objects where digest is null`)).toEqual([])
})

test('thirds follow their days; a month that was written in the last hour follows later', async () => {
  const { said } = await answered(...['01', '02', '11', '20', '28'].map((day) => `${MONTH}-${day}`))
  const [month, ...thirds] = [`month ${MONTH}-01`, `third ${MONTH}-01`, `third ${MONTH}-11`]
  const periods = async () => (await objectsOf('visibility')).filter((object) => !object.startsWith('day'))
  await publish()
  expect(await periods()).toEqual([month, ...thirds])

  const change = async () => {
    await answer(db, { ...said, at: `${MONTH}-20T10:00:00Z` })
    await refresh(db)
    await publish()
  }
  for (let times = 0; times < 2; times += 1) {
    await change()
    expect(await periods()).toEqual(thirds)
  }
  // The version before the one that has the new third.
  const [ended] = await first(`select max(removed) from daily.objects where period = 'third'`)
  const [latest] = await first('select max(version) from daily.versions')
  expect(ended, 'a third ends with a change of its last day').toBe(latest - 1)
  expect((await publish()).versions, 'within the hour').toEqual([])
  const soon = `select periods_due_at between now() and now() + interval '1 hour' from daily.published_brands`
  expect(await first(soon), 'not the next day').toEqual([true])

  await db.query(PERIODS_DUE)
  await publish()
  expect(await periods()).toEqual([month, ...thirds])
  await db.query(PERIODS_DUE)
  await change()
  expect(await periods(), 'an hour after it was written').toEqual([month, ...thirds])
})

test('a run that ends before its thirds is behind; the latest thirds come first', async () => {
  const { id } = await answered()
  for (const day of [400, 399, 398, 397, 396, 40, 39, 38, 37, 36]) await fill(id, daysAgo(day), 1)
  let isOver = false
  const run = before('read_periods', async () => (isOver = true))
  const limits = { brands: 1, sets: 1, rows: 1000, bytes: 1_000_000 }
  const done = await publish({ run, limits, isOver: () => isOver })
  expect(done).toMatchObject({ isComplete: false, failures: [] })
  const periods = await query(
    `select first >= $1::date - 10 from daily.objects where period <> 'day' and metric = 'citation_share'`,
    [daysAgo(40)],
  )
  expect(periods).toEqual([[true]])
  expect(await publish()).toMatchObject({ isComplete: true })
})

test('thirds and months that are read before midnight and committed after it are due again', async () => {
  await answered(`${MONTH}-01`, `${MONTH}-02`)
  const atMidnight: RunStatement = (sql, params) =>
    statement(
      sql,
      params.map((param) =>
        String(param).replace(/"due_at":"[^"]+"/, `"due_at":"${new Date().toISOString()}"`),
      ),
    )
  const isDue = () => query('select periods_due_at <= now() from daily.published_brands')
  await publish({ run: atMidnight })
  expect(await isDue()).toEqual([[true]])
  expect((await publish()).versions).toEqual([])
  expect(await isDue()).toEqual([[false]])
})

test('months long ago have thirds, too, and today is a day alone', async () => {
  await clearOfMidnight(30_000)
  const today = daysAgo(0)
  const { id } = await answered()
  for (const day of ['0001-01-01', '0001-01-02', '2024-02-28', '2024-02-29', today]) await fill(id, day, 1)
  await publish()
  expect(await objectsOf('citation_share')).toEqual([
    'day 0001-01-01',
    'month 0001-01-01',
    'third 0001-01-01',
    'day 0001-01-02',
    'month 2024-02-01',
    'third 2024-02-21',
    'day 2024-02-28',
    'day 2024-02-29',
    `day ${today}`,
  ])
})

test('a day that empties while its object is lost is in no third and month either', async () => {
  const days = ['01', '02', '03'].map((day) => `${MONTH}-${day}`)
  const { id } = await answered(...days)
  await publish()
  expect(await objectsOf('visibility')).toContain(`month ${days[0]}`)
  const [lost] = await first(
    `select id from daily.current_objects where metric = 'visibility' and period = 'day' and first = $1`,
    [days[1]],
  )
  objects.delete(`${lost}.parquet`)
  await query('delete from answers where answered_at >= $1 and answered_at < $2', [days[1], days[2]])
  await refresh(db)
  await query('select daily.restart_share(array[$1::uuid], array[$2::uuid])', [id, lost])
  await publish()
  expect(
    await query(
      `select rows from daily.current_objects where metric = 'visibility' and period in ('third', 'month')`,
    ),
  ).toEqual([[2], [2]])
})

test('numbers go on at least two later when versions came faster than seconds', async () => {
  await answered('2026-10-01')
  await db.query('update daily.publisher set version = 2000000000')
  await publish()
  await query(`select daily.restart_share('{}')`)
  expect((await publish()).versions).toEqual([2_000_000_003])
})
