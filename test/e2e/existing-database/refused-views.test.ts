import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { prepareMapped } from '../../fixtures/schema.ts'

const { db } = await isolatedPool(prepareMapped)
const client = await db.connect()

beforeAll(async () => {
  await client.query(`
    create table app.said (run uuid, label text, labels text[], mood app.mood, at timestamptz, score float8, id integer);
    create function app.folded(label text) returns text immutable language sql as 'select lower(label)';
    create function app.tidy(label text) returns text stable language sql as 'select lower(label)';
    create function app.since(at timestamptz, "from" timestamptz default now()) returns boolean immutable
      language sql as 'select at > "from"';
    create function app.seats() returns bigint immutable begin atomic select count(*) from app.seats; end;
    create operator app.### (function = app.tidy, rightarg = text);
    create function app.alike(text, text) returns boolean immutable language sql as 'select lower($1) = lower($2)';
    create operator app.= (function = app.alike, leftarg = text, rightarg = text)`)
})

beforeEach(async () => {
  await client.query('begin')
  return () => client.query('rollback')
})

afterAll(() => client.release())

/** Installs triggers for a view of mentions, of which `query` is the rest after its first column. */
async function install(query: string, key = 'run'): Promise<void> {
  const view = query.startsWith('with') ? query : `select ${key} as answer_id, ${query}`
  await client.query(`create or replace view export_source.answer_mentions as ${view}`)
  await client.query(`select daily.install_triggers('app.said', 'answer_mentions')`)
}

const FROM = 'label as name from app.said'

test.each([
  [`${FROM} join app.named using (run, label)`, 'does not read app.said alone, but app.named, app.said'],
  ['name from public.answer_mentions as said (run, name)', 'alone, but public.answer_mentions'],
  [`${FROM} where exists (select from app.named)`, 'alone, but app.named, app.said'],
  ['said.label as name from app.said join app.said as other using (run)', 'its table twice'],
  [`${FROM} where at = (select max(at) from app.said)`, 'a subquery'],
  [`(array(select unnest(labels)))[1] as name from app.said`, 'a subquery'],
  ['with said as (select * from app.said) select run as answer_id, label as name from said', 'WITH'],
  ['name from (with said as (select run, label as name from app.said) select * from said) as said', 'WITH'],
  [`${FROM} union all select run, label from app.said`, 'a union, intersection or difference'],
  ['max(label) as name from app.said group by run', 'an aggregate'],
  [`${FROM} group by run, label`, 'GROUP BY'],
  ['max(label) over () as name from app.said', 'a window function'],
  ['name from (select distinct on (run) run, label as name from app.said) as said', 'DISTINCT'],
  [`${FROM} limit 9`, 'LIMIT or OFFSET'],
  [`${FROM} offset 9`, 'LIMIT or OFFSET'],
  [`${FROM} tablesample system (9)`, 'TABLESAMPLE'],
  [`label as name from unnest(array[1]) as one left join app.said on true`, 'an outer join'],
  [`${FROM} where tableoid > 0`, 'a system column'],
  [`${FROM} where said is not null`, 'a whole row'],
  ['xmlelement(name x, label)::text as name from app.said', 'XMLEXPR'],
  [`${FROM} where at < now()`, 'now()'],
  [`${FROM} where score > random()`, 'random()'],
  [`${FROM} where at::date < '2026-10-01'`, 'date(timestamp with time zone)'],
  [`${FROM} where at at time zone 'UTC' < current_date`, 'the current time or user'],
  [`${FROM} where label = current_user`, 'the current time or user'],
  [
    `${FROM} where at < timestamptz '2026-10-01' + interval '1 day'`,
    'the operator +(timestamp with time zone,interval)',
  ],
  ['at::text as name from app.said', 'the cast from timestamp with time zone to text'],
  [`${FROM} where label::date < '2026-10-01'`, 'the cast from text to date'],
  ['(label, at)::text as name from app.said', 'the cast from record to text'],
  ['case when true then labels end::text as name from app.said', 'the cast from text[] to text'],
  ['array_to_string(labels::date[]::text[], label) as name from app.said', 'array_to_string'],
  ['app.tidy(label) as name from app.said', 'app.tidy(text)'],
  ['(operator(app.###) label) as name from app.said', 'the operator app.###'],
  ['name from app.said cross join lateral app.tidy(label) as name', 'app.tidy(text)'],
  ['app.seats()::text as name from app.said', 'app.seats()'],
  [`${FROM} where app.since(at)`, 'app.since'],
  ['(1 / 0)::text as name from app.said', 'division by zero'],
])('triggers are refused for select …, %s', async (query, found) => {
  await expect(install(query)).rejects.toThrow(found)
})

test.each([
  `nullif(label, 'x') as name from app.said`,
  `label as name from app.said where label is distinct from 'x'`,
  `case label when 'x' then label end as name from app.said`,
])('triggers are refused where an operator of another schema cannot be named: %s', async (query) => {
  await client.query('set local search_path = app, pg_catalog')
  await expect(install(query)).rejects.toThrow('app.=')
})

test.each([
  ['is a child', 'create table app.parent (like app.said); alter table app.said inherit app.parent'],
  ['has a child', 'create table app.child () inherits (app.said)'],
])('a table that %s of another one is refused, and named when it becomes one', async (_, change) => {
  await client.query('savepoint before')
  await client.query(change)
  await expect(install(FROM)).rejects.toThrow('a child of another table')
  await client.query('rollback to before')
  await install(FROM)
  await client.query(change)
  const { rows } = await client.query(
    `select base::text from daily.untracked_tables() where source = 'answer_mentions'`,
  )
  expect(rows).toEqual([{ base: 'app.said' }])
})

test('the reason and its hint are a sentence each', async () => {
  await expect(install(`${FROM} where at < now()`)).rejects.toMatchObject({
    message:
      'A row of export_source.answer_mentions does not depend on one row of app.said alone: the view uses now()',
    hint: 'Change the view, or use the rolling window (docs/existing-database.md#rolling-window).',
  })
})

test('virtual columns are refused, which triggers cannot read', async ({ skip }) => {
  const { rows } = await client.query(`select current_setting('server_version_num')::integer as version`)
  if (rows[0].version < 180_000) skip('needs PostgreSQL 18')
  await client.query('alter table app.said add loud text generated always as (upper(label)) virtual')
  await expect(install('loud as name from app.said')).rejects.toThrow('the virtual column loud')
})

test.each([
  [
    `('00000000-0000-0000-0000-' || lpad(to_hex(id), 12, '0'))::uuid`,
    `${FROM} where (at at time zone 'UTC')::date > '2026-09-30'`,
  ],
  ['run', 'mood::text as name from app.said where mood = any (array[label::app.mood])'],
  ['run', `(id::text || run::text || (score > 1)::text) as name from app.said where label::numeric > 0`],
  [
    'run',
    `case label when 'x' then coalesce(nullif(label, ''), '-') else greatest(label, 'a') end as name from app.said`,
  ],
  ['run', 'app.folded(label) as name from app.said order by at'],
  ['run', 'name from (select run, label as name, at from app.said where at is not null) as said'],
  ['run', 'name from app.said cross join lateral unnest(labels) as names (name)'],
  ['run', 'name from app.said cross join lateral (values (label), (labels[1])) as names (name)'],
])('triggers are accepted for select %s as answer_id, %s', async (key, query) => {
  await install(query, key)
})
