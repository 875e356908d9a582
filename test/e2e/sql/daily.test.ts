import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf, verify } from '../../../drizzle/db/verify.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, refresh } from '../../fixtures/rows.ts'
import { sample } from '../../fixtures/sample.ts'
import { MAPPED, tableOf } from '../../fixtures/schema.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'
import { differences } from '../../oracle/differences.ts'

// Random changes with refreshes between them: test/histories/histories.test.ts.

const { db } = await isolatedPool()

beforeEach(() => db.query(CLEARANCE))

const CHILDREN_FIRST = [
  'recommendations',
  'sentiment_phrases',
  'citations',
  'answer_mentions',
  'answers',
  'prompts',
  'competitors',
  'brands',
  'models',
  'markets',
]

describe('the stored rows equal the views', () => {
  test.for([
    ['a prompt and its answers', 'answers where prompt_id = $1', 'prompts where id = $1', 'prompt'],
    ['an answer and its citations', 'citations where answer_id = $1', 'answers where id = $1', 'answer'],
  ] as const)('after one statement deletes %s', async ([, first, second, which]) => {
    const { said, answer: answerId } = await sample(db)
    await db.query(`with deleted as (delete from ${first}) delete from ${second}`, [
      which === 'prompt' ? said.prompt : answerId,
    ])
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })

  test.for([
    'answers',
    'prompts',
    'brands',
  ] as const)('after a row of %s and all that belongs to it is deleted, without work for other brands', async (table) => {
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
    ['citations', ['citation_share', 'citations']],
  ] as const)('after truncate of %s, without work for metrics that do not read it', async ([
    table,
    metrics,
  ]) => {
    await sample(db)
    await db.query(`truncate ${tableOf(table)}; select daily.resolve()`)
    const { rows } = await db.query('select distinct metric from daily.refresh_queue order by metric')
    expect(rows.map(({ metric }) => metric)).toEqual(metrics)
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })

  test('after the organization is deleted', async () => {
    const its = await sample(db)
    await db.query('delete from organizations where id = $1', [its.organization])
    await refresh(db)
    expect(await differences(db)).toEqual([])
    expect((await db.query('select from daily.visibility')).rowCount).toBe(0)
  })

  test('after one statement inserts and updates rows', async () => {
    const { said, answer: answerId } = await sample(db)
    await db.query(
      `insert into answers (id, prompt_id, model_id, market_id, answered_at)
       values ($1, $2, $3, $4, '2026-10-05T09:00:00Z'), (gen_random_uuid(), $2, $3, $4, '2026-10-06T09:00:00Z')
       on conflict (id) do update set answered_at = excluded.answered_at`,
      [answerId, said.prompt, said.model, said.market],
    )
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })

  test.for([
    'competitors',
    'prompts',
    'brands',
    'models',
    'markets',
    'organizations',
  ])('after %s is truncated', async (table) => {
    await sample(db)
    await db.query(`truncate ${tableOf(table)} cascade`)
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })

  test.skipIf(MAPPED)('with names of the greatest length; longer ones are refused', async () => {
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
  })

  test('with aliases in two dimensions, which only tables of an application accept', async () => {
    const { brand: brandId, competitor } = await sample(db)
    const client = await db.connect()
    try {
      await client.query('begin')
      for (const [table, id] of [
        ['brands', brandId],
        ['competitors', competitor],
      ]) {
        const nest = () =>
          client.query(`update ${table} set aliases = '{{Initech,ACM},{Hooli,X}}' where id = $1`, [id])
        if (!MAPPED) {
          await client.query('savepoint before')
          await expect(nest()).rejects.toThrow(`${table}_aliases`)
          await client.query(`rollback to before; alter table ${table} drop constraint ${table}_aliases`)
        }
        await nest()
      }
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
    'because no answer, citation or brand is accepted at %s',
    async (at) => {
      const { said } = await sample(db)
      await expect(answer(db, { ...said, at })).rejects.toThrow('answers_answered_at')
      const recorded = db.query('update citations set recorded_at = $1', [at])
      await expect(recorded).rejects.toThrow('citations_recorded_at')
      const created = db.query('update brands set created_at = $1', [at])
      await expect(created).rejects.toThrow('brands_created_at')
    },
  )

  test('after a load without foreign keys that begins with the children, with a refresh after each table', async () => {
    await sample(db)
    const client = await db.connect()
    try {
      for (const table of CHILDREN_FIRST) {
        await client.query(`create temp table loaded_${table} as select * from ${table}`)
      }
      await client.query(CLEARANCE)
      await client.query('set session_replication_role = replica')
      for (const table of CHILDREN_FIRST) {
        await client.query(`insert into ${table} select * from loaded_${table}`)
        const found = []
        for await (const { waiting } of verify(client, {})) found.push(waiting)
        expect(found.filter((waiting) => !waiting)).toEqual([])
        if (table === 'brands') expect(found.length).toBeGreaterThan(0)
        await refreshAll(client)
        expect(await differences(client)).toEqual([])
      }
      for (const metric of await metricsOf(client)) {
        expect([metric, (await client.query(`select from daily.${metric}`)).rowCount]).not.toEqual([
          metric,
          0,
        ])
      }
    } finally {
      client.release(true)
    }
  })

  test('next to a day that cannot be computed, whose error is raised last', async () => {
    const { said } = await sample(db)
    await db.query('alter table daily.visibility add constraint stuck check (date <> $$2026-10-04$$)')
    try {
      await answer(db, { ...said, at: '2026-10-04T09:00:00Z', citations: [] })
      await answer(db, { ...said, at: '2026-10-02T09:00:00Z', citations: [] })
      await expect(refresh(db)).rejects.toThrow('visibility of 2026-10-04')
      const { rows } = await db.query('select date::text from daily.visibility order by date')
      expect(rows).toEqual([{ date: '2026-10-01' }, { date: '2026-10-02' }])
    } finally {
      await db.query('alter table daily.visibility drop constraint stuck')
    }
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })
})

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
    left join daily.tracked_columns() as tracked on tracked.source = relname
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
