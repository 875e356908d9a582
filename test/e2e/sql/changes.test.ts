import { beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { findWorkers } from '../../../cli/workers/find-workers.ts'
import { toRowSchemas } from '../../../cli/workers/migrate-to-latest.ts'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { relistAll } from '../../../drizzle/db/relist.ts'
import { activateRowSchemas, type RowSchema, stageRowSchemas } from '../../../drizzle/db/row-schemas.ts'
import { digestOf } from '../../../site/reference/digest.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { metricColumns } from '../../fixtures/metric-columns.ts'
import { answer, brand, organization, place, prompt, refresh } from '../../fixtures/rows.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'
import { METRICS } from '../../sync/compare-copy.ts'

const { db, url } = await isolatedPool()

beforeEach(() => db.query(CLEARANCE))

/** The row of the phrase of {@link sample}. */
const ROW = {
  date: '2026-10-01',
  positive_mentions: 1,
  neutral_mentions: 0,
  negative_mentions: 0,
  positive_weight: 0.5,
  negative_weight: 0,
  sentiment_score: 100,
}

/** A brand with an answer on each of two days, one of which has a phrase. */
async function sample() {
  const id = await brand(db, await organization(db))
  const said = { ...(await place(db)), prompt: await prompt(db, id) }
  const phrases = [{ polarity: 'positive', confidence: '0.5' }]
  await answer(db, { ...said, at: '2026-10-01T09:00:00Z', mentions: ['Acme'], phrases })
  await answer(db, { ...said, at: '2026-10-02T09:00:00Z' })
  await refresh(db)
  return { brandId: id, said }
}

type Listed = {
  readonly endpoint: string
  readonly date: string
  readonly rows: number
  readonly totals: string
  readonly digest: string
}

/** The changes of a brand after a `changed_at`, in its order. */
async function listed(brandId: string, since = ''): Promise<Listed[]> {
  const { rows } = await db.query<Listed>(
    `select endpoint, date::text, rows, totals::text, digest from daily.changes
     where brand_id = $1 and changed_at > $2 order by changed_at, endpoint, date`,
    [brandId, since],
  )
  return rows
}

/** The `changed_at` of the last change, as text of full precision. */
const lastStamp = async (): Promise<string> =>
  (await db.query('select max(changed_at) as last from daily.changes')).rows[0].last

const schemas = toRowSchemas(await findWorkers())

/** The schemas before a change of one metric. */
const withOther = (metric: string, change: (fields: readonly string[]) => readonly string[]): RowSchema[] =>
  schemas.map((schema) =>
    schema.metric === metric
      ? { ...schema, fields: change(schema.fields), totals: change(schema.totals) }
      : schema,
  )

/** Deploys Workers with these schemas: migrates, and with `activates` all of them are live. */
const deploy = (schemas: readonly RowSchema[], activates = true) =>
  withClient(url, async (client) => {
    await stageRowSchemas(client, schemas)
    if (activates) await activateRowSchemas(client)
  })

/** Lists every day, and returns the number of brands. */
async function relist(): Promise<number> {
  const client = await db.connect()
  return relistAll(client).finally(() => client.release())
}

const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)

const emptied = ({ rows }: Listed) => rows === 0

describe('the list of changes', () => {
  test('has the number of rows and the sums of a day that changed', async () => {
    const { brandId } = await sample()
    const changes = await listed(brandId)
    expect(changes).toContainEqual({
      endpoint: 'visibility',
      date: '2026-10-01',
      rows: 1,
      totals: '{"total_prompts":1,"visible_count":1}',
      digest: expect.stringMatching(/^[0-9a-f]{15}$/),
    })
    expect(changes.filter(({ endpoint }) => endpoint === 'sentiment')).toEqual([
      {
        endpoint: 'sentiment',
        date: '2026-10-01',
        rows: 1,
        totals:
          '{"positive_mentions":1,"neutral_mentions":0,"negative_mentions":0,"positive_weight":0.5000,"negative_weight":0.0000}',
        digest: digestOf([ROW], metricColumns('sentiment')),
      },
    ])
  })

  test('has days that differ and no others', async () => {
    const { brandId, said } = await sample()
    const before = await lastStamp()
    const client = await db.connect()
    await logAll(client)
    await refreshAll(client)
    client.release()
    expect(await listed(brandId, before)).toEqual([])

    await answer(db, { ...said, at: '2026-10-02T10:00:00Z' })
    await refresh(db)
    const changes = await listed(brandId, before)
    expect(new Set(changes.map(({ date }) => date))).toEqual(new Set(['2026-10-02']))
    expect(changes.map(({ endpoint }) => endpoint)).toContain('visibility')
    expect(changes.filter(({ rows }) => rows === 0)).toEqual([])
  })

  test('has a day that emptied, with zeros of the form of its sums', async () => {
    const { brandId } = await sample()
    const before = await lastStamp()
    await db.query(`delete from answers where answered_at < '2026-10-02'`)
    await refresh(db)
    const changes = await listed(brandId, before)
    expect(changes.map(({ endpoint, rows, digest }) => [endpoint, rows, digest])).toEqual(
      expect.arrayContaining([
        ['sentiment', 0, '000000000000000'],
        ['visibility', 0, '000000000000000'],
      ]),
    )
    expect(changes.find(({ endpoint }) => endpoint === 'sentiment')?.totals).toBe(
      '{"positive_mentions":0,"neutral_mentions":0,"negative_mentions":0,"positive_weight":0.0000,"negative_weight":0.0000}',
    )
  })

  test('has a greater changed_at for later changes when the clock of the system is behind', async () => {
    const { brandId, said } = await sample()
    const ahead = '2099-01-01T00:00:00.000000Z'
    await db.query('update daily.changes_clock set last = $1', [ahead])
    await answer(db, { ...said, at: '2026-10-02T10:00:00Z' })
    await refresh(db)
    expect((await listed(brandId, ahead)).map(({ endpoint }) => endpoint)).toContain('visibility')
  })
})

describe('every day is listed again', () => {
  test('with another digest, for a metric whose row has other fields, and for no other', async () => {
    const { brandId } = await sample()
    const ofVisibility = async () =>
      (await listed(brandId)).filter(({ endpoint }) => endpoint === 'visibility')
    const days = await ofVisibility()
    const before = await lastStamp()
    const changed = withOther('visibility', (fields) => fields.toReversed())
    onTestFinished(() => deploy(schemas))
    await deploy(schemas)
    await deploy(changed, false)
    await deploy(schemas)
    expect(await listed(brandId, before), 'rolled back before the last Worker').toEqual([])
    await deploy(changed)
    const relisted = await listed(brandId, before)
    expect(relisted.map(({ endpoint, date }) => [endpoint, date])).toEqual([
      ['visibility', '2026-10-01'],
      ['visibility', '2026-10-02'],
    ])
    const digests = new Set(days.map(({ digest }) => digest))
    expect(relisted.filter(({ digest }) => digests.has(digest))).toEqual([])
    await deploy(schemas)
    expect(await ofVisibility(), 'rolled back').toEqual(days)
  })

  test('through today in UTC, where the session skips a midnight', async () => {
    const { brandId } = await sample()
    const client = await db.connect()
    // Africa/Cairo moves its clocks at midnight.
    await client.query(`begin; set local timezone = 'Africa/Cairo'; delete from daily.changes`)
    await client.query(`select daily.relist('sentiment', $1, (now() at time zone 'UTC')::date - 365)`, [
      brandId,
    ])
    const { rows } = await client.query(
      `select count(*)::int, max(date) = (now() at time zone 'UTC')::date as through_today from daily.changes`,
    )
    await client.query('rollback')
    client.release()
    expect(rows).toEqual([{ count: 366, through_today: true }])
  })

  const WAITING = [
    `select daily.relist('visibility', gen_random_uuid())`,
    'select daily.activate_row_schemas()',
  ]
  const onRealPostgres = test.runIf(inject('realPostgres'))
  onRealPostgres.for(WAITING)('after a refresh that is running, not next to it: %s', async (statement) => {
    await sample()
    const [refreshing, relisting] = [await db.connect(), await db.connect()]
    try {
      await refreshing.query('begin')
      await refreshAll(refreshing)
      await relisting.query(`begin; set local lock_timeout = '100ms'`)
      await expect(relisting.query(statement)).rejects.toMatchObject({ code: '55P03' })
    } finally {
      for (const client of [refreshing, relisting]) {
        await client.query('rollback')
        client.release()
      }
    }
  })

  test('on request, with all days from a year before the first that have no rows, each time the same', async () => {
    await clearOfMidnight(60_000)
    const { brandId } = await sample()
    const changes = await listed(brandId)
    let since = await lastStamp()
    for (let run = 0; run < 2; run += 1) {
      expect(await relist()).toBe(1)
      const days = await listed(brandId, since)
      expect(days).toEqual(expect.arrayContaining(changes))
      expect(days.filter((day) => !emptied(day))).toHaveLength(changes.filter((day) => !emptied(day)).length)
      const ofSentiment = days.filter(({ endpoint }) => endpoint === 'sentiment').map(({ date }) => date)
      expect(ofSentiment).toEqual(Array.from(ofSentiment, (_, day) => daysAfter('2025-10-01', day)))
      expect(ofSentiment.at(-1)).toBe(daysAgo(0))
      expect(days).toHaveLength(METRICS.length * ofSentiment.length)
      since = await lastStamp()
    }
  })

  test('on request, without the days that follow the year 1 or 1970, the dates of answers without a time', async () => {
    const { said } = await sample()
    const days = async () =>
      (await db.query('select count(distinct date)::int as days from daily.changes')).rows[0].days
    await relist()
    const before = await days()
    for (const at of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z']) await answer(db, { ...said, at })
    await refresh(db)
    await relist()
    expect(await days()).toBe(before + 2)
  })
})

test('a deployment that adds a field lists days with the previous fields until its last Worker is live', () =>
  withClient(url, async (client) => {
    const columns = metricColumns('sentiment')
    const previous = columns.filter(({ name }) => name !== 'negative_weight')
    await deploy(withOther('sentiment', (fields) => fields.filter((field) => field !== 'negative_weight')))
    onTestFinished(() => deploy(schemas))
    const { brandId, said } = await sample()
    const brands = [brandId, (await sample()).brandId]
    const migrate = (...args: string[]) => runCommand('migrate.ts', args, { DATABASE_URL: url })
    expect((await migrate()).stdout).toContain('previous fields of sentiment until npm run deploy')

    const before = await lastStamp()
    const phrases = [{ polarity: 'positive', confidence: '0.5' }]
    await answer(db, { ...said, at: '2026-10-03T09:00:00Z', mentions: ['Acme'], phrases })
    await refresh(db)
    const [day] = (await listed(brandId, before)).filter(({ endpoint }) => endpoint === 'sentiment')
    expect(day?.digest).toBe(digestOf([{ ...ROW, date: '2026-10-03' }], previous))
    expect(Object.keys(JSON.parse(day?.totals ?? ''))).not.toContain('negative_weight')

    let relists = 0
    const query = async (sql: string, values: string[]) => {
      if (sql.includes('daily.relist') && ++relists === 2) throw new Error('killed')
      return client.query(sql, values)
    }
    const killed = Object.assign(Object.create(client), { query })
    const activated = await lastStamp()
    await expect(activateRowSchemas(killed)).rejects.toThrow('killed')
    expect((await migrate('--activate')).stdout).toBe('The database has the current schema.\n')
    for (const id of brands) {
      const days = await listed(id, activated)
      expect(days.map(({ endpoint, date, digest }) => [endpoint, date, digest])).toEqual(
        (id === brandId ? ['2026-10-01', '2026-10-03'] : ['2026-10-01']).map((date) => [
          'sentiment',
          date,
          digestOf([{ ...ROW, date }], columns),
        ]),
      )
      expect(days.every(({ totals }) => 'negative_weight' in JSON.parse(totals))).toBe(true)
    }
  }))
