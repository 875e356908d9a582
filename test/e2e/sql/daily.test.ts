import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { differences } from '../../fixtures/differences.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, refresh } from '../../fixtures/rows.ts'
import { sample } from '../../fixtures/sample.ts'
import { MAPPED, tableOf } from '../../fixtures/schema.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

// Random changes with refreshes between them: test/histories/histories.test.ts.

const { db } = await isolatedPool()

beforeEach(() => db.query(CLEARANCE))

test.for([
  'answers',
  'prompts',
  'brands',
] as const)('stored rows equal the views after a row of %s and all that belongs to it is deleted, without work for other brands', async (table) => {
  const its = await sample(db)
  await sample(db)
  const ids = { answers: its.answer, prompts: its.said.prompt, brands: its.brand }
  await db.query(`delete from ${table} where id = $1`, [ids[table]])
  await db.query('select daily.resolve()')
  const { rows } = await db.query('select brand_id from daily.queued_brands')
  expect(rows).toEqual([{ brand_id: its.brand }])
  await refresh(db)
  expect(await differences(db)).toEqual([])
})

test.for([
  ['sentiment_phrases', ['sentiment']],
  ['recommendations', ['recommended_rate']],
  ['competitors', ['competitors', 'recommended_rate']],
  ['citations', ['citation_share', 'citations']],
] as const)('stored rows equal the views after truncate of %s, without work for metrics that do not read it', async ([
  table,
  metrics,
]) => {
  await sample(db)
  await db.query(`truncate ${tableOf(table)} cascade; select daily.resolve()`)
  const { rows } = await db.query('select distinct metric from daily.refresh_queue order by metric')
  expect(rows.map(({ metric }) => metric)).toEqual(metrics)
  await refresh(db)
  expect(await differences(db)).toEqual([])
})

test.skipIf(MAPPED)(
  'stored rows may have names of the greatest length; longer ones are refused',
  async () => {
    const its = await sample(db)
    const long = () => randomBytes(2000).toString('base64').slice(0, 2000)
    await db.query('update brands set name = $2 where id = $1', [its.brand, long()])
    await db.query('update competitors set name = $2 where id = $1', [its.competitor, long()])
    for (const table of ['brands', 'competitors']) {
      const longer = db.query(`update ${table} set name = repeat('x', 2001)`)
      await expect(longer).rejects.toThrow(`${table}_name`)
    }
    await refresh(db)
    expect(await differences(db)).toEqual([])
  },
)

test('names include aliases in two dimensions, which only tables of an application accept', async () => {
  const { brand: brandId, competitor } = await sample(db)
  const nested = `aliases = '{{Initech,ACM},{Hooli,X}}'`
  const tables = ['brands', 'competitors']
  for (const table of MAPPED ? [] : tables)
    await expect(db.query(`update ${table} set ${nested}`)).rejects.toThrow(`${table}_aliases`)
  const client = await db.connect()
  try {
    await client.query('begin')
    for (const table of tables)
      await client.query(
        `alter table ${tableOf(table)} drop constraint if exists ${table}_aliases; update ${table} set ${nested}`,
      )
    const { rows } = await client.query(
      `select names from metrics.brand_names where brand_id = $1
       union all select names from metrics.competitor_names where competitor_id = $2`,
      [brandId, competitor],
    )
    expect(rows).toEqual([
      { names: ['acme', 'acme corporation', 'initech', 'acm', 'hooli', 'x'] },
      { names: ['globex', 'initech', 'acm', 'hooli', 'x'] },
    ])
  } finally {
    await client.query('rollback')
    client.release()
  }
})

// The tables' own checks; for an application's tables see rolling-window.test.ts.
test.skipIf(MAPPED).each(['infinity', '-infinity', '10000-01-01T00:00:00Z', '0001-12-31T23:59:59Z BC'])(
  'no answer, citation or brand is accepted at %s',
  async (at) => {
    const { said } = await sample(db)
    await expect(answer(db, { ...said, at })).rejects.toThrow('answers_answered_at')
    const recorded = db.query('update citations set recorded_at = $1', [at])
    await expect(recorded).rejects.toThrow('citations_recorded_at')
    const created = db.query('update brands set created_at = $1', [at])
    await expect(created).rejects.toThrow('brands_created_at')
  },
)

test('the triggers track every column that a metric reads', async () => {
  const { rows } = await db.query(`
    with recursive reached (relation, attnum) as (
      select format('metrics.%I', metric)::regclass, 0 from daily.sources
      union
      select reads.relation, reads.attnum from reached join daily.reads on view = reached.relation
    )
    select relname as source, attname as column
    from reached
    join pg_class on pg_class.oid = relation and relnamespace = 'export_source'::regnamespace
    join pg_attribute on attrelid = relation and pg_attribute.attnum = reached.attnum
    left join daily.tracked_columns() as tracked on tracked.source = relname and log = 'change_log'
    where relevant ~ format('\\m%s\\M', attname) is not true`)
  expect(rows).toEqual([])
})

test('each text of a stored row sorts by code point', async () => {
  const { rows } = await db.query(`
    select relname as metric, attname as column
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'daily'::regnamespace and relname in (select metric from daily.sources)
      and atttypid = 'text'::regtype and attcollation <> 'pg_catalog."C"'::regcollation`)
  expect(rows).toEqual([])
})
