import type pg from 'pg'
import { answer, type Change, market, model, prompt } from './raw-changes.ts'
import { MAPPED, tableOf } from './schema.ts'

const TABLE = tableOf('answers')
/** The table while it is replaced. */
const UNPARTITIONED = TABLE.replace(/\w+$/, 'unpartitioned')

/** The columns by which the answers are partitioned. */
const TIME = MAPPED ? 'run_at' : 'answered_at'
export const LIST = MAPPED ? 'engine' : 'model_id'

/** The table of a partition of the answers. Rows are written to `answers_<name>`, which may be a view. */
export const partitionOf = (name: string): string => `${MAPPED ? 'app.' : ''}answers_${name}`

const EARLY = partitionOf('early')
export const EARLY_BOUNDS = `for values from (minvalue) to ('2026-09-22T00:00:00Z')`

/**
 * Replaces the answers under their views by a partitioned table without foreign keys, and tracks it: `early` through 21
 * September, `late` on 22 September with the partitions `late_zero` of `model-0` and `late_other`, and `other`.
 */
export async function partitionAnswers(client: pg.ClientBase): Promise<void> {
  const { rows: views } = await client.query<{ name: string; query: string }>(
    `select distinct ev_class::regclass::text as name, pg_get_viewdef(ev_class) as query
     from pg_rewrite
     join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
     where refobjid = $1::regclass and ev_class <> refobjid`,
    [TABLE],
  )
  const of = partitionOf
  await client.query(`
    alter table ${TABLE} rename to unpartitioned;
    create table ${TABLE} (like ${UNPARTITIONED} including defaults) partition by range (${TIME});
    create table ${of('late')} partition of ${TABLE}
      for values from ('2026-09-22T00:00:00Z') to ('2026-09-23T00:00:00Z') partition by list (${LIST});
    create table ${of('late_zero')} partition of ${of('late')} for values in ('model-0');
    create table ${of('late_other')} partition of ${of('late')} default;
    create table ${of('other')} partition of ${TABLE} default;
    ${views.map(({ name, query }) => `create or replace view ${name} as ${query}`).join('')};
    drop table ${UNPARTITIONED} cascade;
    select daily.install_triggers('${TABLE}', 'answers');
    ${['late', 'late_zero', 'late_other', 'other'].map(createView).join(';')};
    ${addEarly()}`)
}

/** SQL of the name under which rows of a partition are written, over the tables of another application. */
function createView(name: string): string {
  if (!MAPPED) return ''
  return `do $$ begin
    execute replace(
      'create view public.answers_${name} as ' || pg_get_viewdef('public.answers'::regclass),
      'FROM ${TABLE}', 'FROM ${partitionOf(name)} as ${TABLE.replace(/^.*\./, '')}');
    end $$`
}

/** SQL that adds the partition `early`, with rows that a statement inserts before it is attached. */
export const addEarly = (insert = ''): string => `
  create table ${EARLY} (like ${TABLE} including defaults);
  ${createView('early')}; ${insert};
  ${ATTACH_EARLY}`

const LOG_EARLY = `select daily.log_partition('${EARLY}', 'answers')`

export const ATTACH_EARLY = `alter table ${TABLE} attach partition ${EARLY} ${EARLY_BOUNDS}; ${LOG_EARLY}`
export const DETACH_EARLY = `${LOG_EARLY}; alter table ${TABLE} detach partition ${EARLY}`
export const DROP_EARLY = `${LOG_EARLY}; drop table ${EARLY} cascade`

/** SQL that deletes all answers and restores their partitions. */
export const RESTORE_PARTITIONS = `
  truncate ${TABLE} cascade;
  drop table if exists ${EARLY} cascade;
  ${addEarly()}`

const columns = 'id, prompt_id, model_id, market_id, answered_at'

/** What may happen to partitions of the answers, by their own names. */
export const PARTITION_CHANGES: Readonly<Record<string, Change>> = {
  addToEarly: (a, b, c, d) =>
    `insert into answers_early (${columns})
     values (${answer(a)}, ${prompt(b)}, ${model(c)}, ${market(d)}, '2026-09-20T11:30:00Z')`,
  addToLate: (a, b, _, d) =>
    `insert into answers_late_zero (${columns})
     values (${answer(a)}, ${prompt(b)}, 'model-0', ${market(d)}, '2026-09-22T11:30:00Z')`,
  failEarly: (a, b) =>
    `update answers_early set error = ${b % 2 ? "'gone'" : 'null'} where id = ${answer(a)}`,
  askEarly: (a, b) => `update answers_early set prompt_id = ${prompt(b)} where id = ${answer(a)}`,
  placeLate: (a, b) => `update answers_late set model_id = ${model(b)} where id = ${answer(a)}`,
  dropLate: (a) => `delete from answers_late_other where id = ${answer(a)}`,
  truncatePartition: (a) => `truncate ${partitionOf(['early', 'late_zero', 'late'][a % 3] ?? '')}`,
  attach: () => ATTACH_EARLY,
  detach: () => DETACH_EARLY,
  dropPartition: () => DROP_EARLY,
  addPartition: (a, b, c, d) => addEarly(PARTITION_CHANGES.addToEarly?.(a, b, c, d)),
}
