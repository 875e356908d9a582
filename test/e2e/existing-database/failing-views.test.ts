import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { prepareMapped } from '../../fixtures/schema.ts'

const { db } = await isolatedPool(prepareMapped)
const client = await db.connect()

const [GOOD, BAD] = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002']

/** A view of phrases, by its confidence. */
const view = (confidence: string, key = 'run') =>
  `select ${key} as answer_id, note as polarity, ${confidence} as confidence from app.said`

const CHECKED = view('app.checked(note)::numeric(5, 4)')
const GRADED = view('note::app.grade::text::integer::numeric(5, 4)')

beforeEach(async () => {
  await client.query(`begin;
    create table app.said (run uuid, note text, score float8, divisor integer, edited integer default 0);
    create type app.grade as enum ('1', 'x');
    create function app.checked(note text) returns integer immutable language plpgsql as $$
      begin
        if note = 'x' then raise 'of the application'; end if;
        assert note <> 'y', 'of the application';
        if note = 'z' then raise query_canceled; end if;
        return 1;
      end $$`)
  return () => client.query('rollback')
})

afterAll(() => client.release())

/** Installs the triggers of a view, and then writes a row that it can read. */
async function install(definition: string): Promise<void> {
  await client.query(`
    create or replace view export_source.sentiment_phrases as ${definition};
    select daily.install_triggers('app.said', 'sentiment_phrases');
    insert into app.said values ('${GOOD}', '1', 0.5, 1)`)
}

/** Runs a statement, and returns the keys that it logged: null for the whole source. */
async function logged(statement: string): Promise<unknown> {
  await client.query(`delete from daily.change_log; ${statement}`)
  const { rows } = await client.query(
    'select source, array_agg(answer_id order by answer_id) as keys from daily.change_log group by source',
  )
  expect(rows).toMatchObject([{ source: 'sentiment_phrases' }])
  return rows[0].keys
}

const KEY = `('00000000-0000-0000-0000-00000000000' || note)::uuid`

test.each<[string, string, string, 'keys' | 'source']>([
  ['an overflow', view('score::numeric(5, 4)'), `'2', 'infinity', 1`, 'keys'],
  ['a cast', view('note::integer::numeric(5, 4)'), `'x', 1, 1`, 'keys'],
  ['a division', view('(1 / divisor)::numeric(5, 4)'), `'2', 1, 0`, 'keys'],
  ['a function', CHECKED, `'x', 1, 1`, 'keys'],
  ['an assertion', CHECKED, `'y', 1, 1`, 'keys'],
  ['a renamed value', GRADED, `alter type app.grade rename value '1' to '2'`, 'keys'],
  ['a key', view('1::numeric(5, 4)', KEY), `'x', 1, 1`, 'source'],
  ['a condition', `${view('1::numeric(5, 4)')} where 1 / divisor > 0`, `'2', 1, 0`, 'source'],
  ['a renamed column', view('score::numeric(5, 4)'), 'alter table app.said rename score to mark', 'source'],
  ['a dropped column', view('score::numeric(5, 4)'), 'alter table app.said drop score cascade', 'source'],
  ['a renamed type', GRADED, 'alter type app.grade rename to mark', 'source'],
  ['a dropped type', GRADED, 'drop type app.grade cascade', 'source'],
  ['a moved function', CHECKED, 'alter function app.checked set schema public', 'source'],
  ['a dropped function', CHECKED, 'drop function app.checked cascade', 'source'],
])('statements succeed and are logged when %s makes the view fail', async (_, definition, fault, what) => {
  await install(definition)
  const broken = !fault.startsWith("'")
  // As a session that has no plan yet.
  if (broken) await client.query(`${fault}; discard plans`)
  const bad = broken ? `(run, note) values ('${BAD}', '1')` : `values ('${BAD}', ${fault})`
  const edit = 'update set edited = edited + 1'
  const merge = `using unnest(array['${GOOD}', '${BAD}']::uuid[]) as id on run = id when matched then ${edit}`
  const keys = (...of: string[]) => (what === 'keys' ? of : [null])

  expect(await logged(`insert into app.said ${bad}`)).toEqual(keys(BAD))
  if (inject('realPostgres')) {
    const cells = broken ? '1' : fault.replaceAll(', ', '\\t').replaceAll("'", '')
    const columns = broken ? 'run, note' : 'run, note, score, divisor'
    const copy = `copy app.said (${columns}) from program $$printf '${BAD}\\t${cells}\\n'$$`
    expect(await logged(copy)).toEqual(keys(BAD))
  }
  expect(await logged(edit.replace('update', 'update app.said'))).toEqual(keys(GOOD, BAD))
  expect(await logged(`merge into app.said ${merge}`)).toEqual(keys(GOOD, BAD))
  expect(await logged('delete from app.said')).toEqual(keys(GOOD, BAD))
  expect(await logged('truncate app.said')).toEqual([null])
})

test('what a trigger logs depends on no setting of the session, and on no function that is added', async () => {
  await client.query(`set local standard_conforming_strings = off; set local datestyle = 'SQL, DMY'`)
  await client.query('alter table app.said add at timestamptz, add spare text, add labels text[]')
  await install(`select run as answer_id, score::text || label as polarity, 1::numeric(5, 4) as confidence
    from app.said cross join lateral unnest(labels) as names (label)
    where coalesce(note, '1') ~ E'^\\\\d' and (at at time zone 'UTC')::date >= '01/10/2026'::date`)
  await client.query(`set local datestyle = iso; set local extra_float_digits = 0; alter table app.said drop spare;
    create function app.unnest(text[]) returns setof text language sql as 'select null where false'`)
  const row = `('${BAD}', '1', 0.12345678901234567, '2026-10-02', '{x}')`
  expect(await logged(`insert into app.said (run, note, score, at, labels) values ${row}`)).toEqual([BAD])
  expect(await logged(`update app.said set score = 0.12345678901234561 where run = '${BAD}'`)).toEqual([BAD])
})

test('a partition with another order of columns logs its own keys', async () => {
  await client.query(`drop table app.said; create table app.said (run uuid, note text, score float8, divisor integer)
      partition by list (divisor);
    create table app.said_one (note text, divisor integer, score float8, run uuid);
    alter table app.said attach partition app.said_one for values in (1)`)
  await install(view('score::numeric(5, 4)'))
  expect(await logged(`insert into app.said_one (run, score, divisor) values ('${BAD}', 1, 1)`)).toEqual([
    BAD,
  ])
  expect(await logged(`delete from app.said_one where run = '${BAD}'`)).toEqual([BAD])
})

test('a statement that is canceled, or whose changes cannot be logged, fails', async () => {
  await install(CHECKED)
  await client.query('savepoint installed')
  await expect(client.query(`update app.said set note = 'z'`)).rejects.toMatchObject({ code: '57014' })
  await client.query(
    `rollback to installed; alter table daily.change_log add check (source = 'none') not valid`,
  )
  await expect(client.query('delete from app.said')).rejects.toMatchObject({ code: '23514' })
})
