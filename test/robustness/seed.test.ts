import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrateToLatest } from '../../cli/workers/migrate-to-latest.ts'
import { DEMO, seedDemo, seedMissingDays } from '../../drizzle/seed/demo.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'

// The demo fills whole tables, so it stays out of the database that the other tests share.
const whole = await isolatedPool(migrateToLatest)
const client = await whole.db.connect()
const chunked = await isolatedPool(migrateToLatest)
const other = await chunked.db.connect()
afterAll(() => {
  client.release()
  other.release()
})

/** The organization of another customer, which the seed must not touch. */
const OTHER = '5eed0000-0000-4000-8000-000000000001'

const OF_DAY = {
  answers: `select * from answers t where ${utcDay('answered_at')} = $1`,
  answer_mentions: `select t.* from answer_mentions t join answers a on a.id = answer_id where ${utcDay('answered_at')} = $1`,
  citations: `select * from citations t where ${utcDay('recorded_at')} = $1`,
  sentiment_phrases: `select t.* from sentiment_phrases t join answers a on a.id = answer_id where ${utcDay('answered_at')} = $1`,
  recommendations: `select t.* from recommendations t join answers a on a.id = answer_id where ${utcDay('answered_at')} = $1`,
}

function utcDay(time: string): string {
  return `(${time} at time zone 'UTC')::date`
}

async function count(sql: string, values: readonly unknown[] = [], from = client): Promise<number> {
  const { rows } = await from.query(`select count(*)::integer as n from (${sql}) counted`, [...values])
  return rows[0].n
}

async function day(date: string, from = client) {
  const digests: Record<string, unknown> = {}
  for (const [table, sql] of Object.entries(OF_DAY)) {
    const { rows } = await from.query(
      `select count(*)::integer as n, md5(string_agg(row::text, ' ' order by row::text collate "C")) as digest
       from (${sql}) row`,
      [date],
    )
    digests[table] = rows[0]
  }
  return digests
}

beforeAll(async () => {
  await client.query(`insert into organizations (id, name) values ($1, 'Other')`, [OTHER])
  await client.query(
    `insert into brands (organization_id, name, display_name, url, site_url)
     values ($1, 'Other', 'Other', 'other.example', 'https://other.example')`,
    [OTHER],
  )
  await seedDemo(client, '2026-11-18')
}, 120_000)

describe('the demo data', () => {
  test('holds enough to page through, and no row of the future', async () => {
    expect(await count('select from answers')).toBeGreaterThan(30_000)
    expect(await count('select from citations')).toBeGreaterThan(70_000)
    expect(await count(`select distinct ${utcDay('answered_at')} from answers`)).toBe(120)
    expect(await count(`select from citations where recorded_at >= '2026-11-19T00:00:00Z'`)).toBe(0)
  })

  test('shows what a reader would look for', async () => {
    for (const rows of [
      `select from citations join answers a on a.id = answer_id where recorded_at > answered_at + interval '1 day'`,
      'select answer_id, url from citations group by 1, 2 having count(*) > 1',
      'select from answers where error is not null',
      'select from citations where domain is null',
      'select from brands where not active',
      'select from competitors where not active',
      'select from prompts where retired_at is not null',
      'select from prompts where not counts_in_metrics',
      `select from recommendations join answers a on a.id = answer_id where answered_at < '2026-09-22T00:00:00Z'`,
    ]) {
      expect(await count(rows), rows).toBeGreaterThan(0)
    }
  })

  test('stores each key as a hash, in the state that its label says', async () => {
    for (const { label, key } of DEMO.keys) {
      expect(key).toMatch(/^svc_live_[0-9a-f]{64}$/)
      const { rows } = await client.query(
        `select last_four, brand_ids, revoked_at is not null as revoked, expires_at is not null as expired, plan
         from api_keys join subscriptions using (organization_id) where key_hash = $1`,
        [createHash('sha256').update(key).digest()],
      )
      expect(rows).toEqual([
        {
          last_four: key.slice(-4),
          brand_ids: label === 'brand-limited' ? [DEMO.brandId] : null,
          revoked: label === 'revoked',
          expired: label === 'expired',
          plan: ['agency', 'pro', 'lite'].includes(label) ? label : 'enterprise',
        },
      ])
    }
  })
})

test('seeding again, even on another day, changes no row of a date and nothing that is not the demo’s', async () => {
  const before = await day('2026-10-15')
  await client.query(`delete from citations where ${utcDay('recorded_at')} = '2026-10-15'`)
  await client.query(`update answers set error = 'edited' where ${utcDay('answered_at')} = '2026-10-15'`)
  await client.query(
    `insert into prompts (brand_id, text) values ($1, 'Added to the demo after the first seed')`,
    [DEMO.brandId],
  )
  await seedDemo(client, '2026-11-21')

  expect(await day('2026-10-15')).toEqual(before)
  expect(await count(`select distinct ${utcDay('answered_at')} from answers`)).toBe(120)
  expect(await count(`select from prompts where text like 'Added%'`)).toBe(0)
  expect(await count('select from brands where organization_id = $1', [OTHER])).toBe(1)
}, 120_000)

test('days that are added on several dates are those of one seed, and leave the rows of other days as they are', async () => {
  const seedAll = async (today: string, limit: number) => {
    for (let missing = 1; missing > 0; ) missing = (await seedMissingDays(other, today, { limit })).missing
  }
  expect(await seedMissingDays(other, '2026-11-18', { newest: 34, limit: 34 })).toEqual({
    inserted: 34,
    missing: 86,
  })
  await other.query(`update answers set error = 'edited' where ${utcDay('answered_at')} = '2026-11-17'`)
  const edited = await day('2026-11-17', other)
  // The later day first: late citations of the days before both are recorded on it.
  await seedMissingDays(other, '2026-11-20', { limit: 1 })
  await seedAll('2026-11-20', 40)
  await seedAll('2026-11-21', 40)
  expect((await day('2026-11-17', other)).answers).toEqual(edited.answers)

  // The first ones have late citations of days before the seed.
  for (const date of ['2026-07-29', '2026-09-25', '2026-10-15', '2026-11-18', '2026-11-19', '2026-11-21']) {
    expect(await day(date, other), date).toEqual(await day(date))
  }
}, 120_000)

test('days that are added later refer to no prompt, answer or competitor that a user has deleted', async () => {
  await other.query(`delete from answers where ${utcDay('answered_at')} = '2026-11-21'`)
  await other.query('delete from prompts where id = (select min(id::text)::uuid from prompts)')
  await other.query('delete from competitors where id = (select min(id::text)::uuid from competitors)')
  await seedMissingDays(other, '2026-11-24', { limit: 3 })
  expect(await count(`select from answers where ${utcDay('answered_at')} = '2026-11-21'`, [], other)).toBe(0)
  for (const [table, key, parent] of [
    ['answers', 'prompt_id', 'prompts'],
    ['citations', 'answer_id', 'answers'],
    ['answer_mentions', 'answer_id', 'answers'],
    ['recommendations', 'competitor_id', 'competitors'],
  ]) {
    expect(
      await count(`select from ${table} where ${key} not in (select id from ${parent})`, [], other),
      table,
    ).toBe(0)
  }
}, 120_000)
