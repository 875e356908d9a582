import type pg from 'pg'
import { answer, type Change, market, model, prompt } from './raw-changes.ts'
import { MAPPED, tableOf } from './schema.ts'

/** A raw table by its name in the project, and its columns by which it is partitioned. */
export type Partitioned = { readonly source: string; readonly time: string; readonly list: string }

export const ANSWERS: Partitioned = MAPPED
  ? { source: 'answers', time: 'run_at', list: 'engine' }
  : { source: 'answers', time: 'answered_at', list: 'model_id' }

/** The table of a partition. Its rows are written under `<source>_<name>`, like those of the raw table. */
export const partitionOf = ({ source }: Partitioned, name: string): string =>
  `${MAPPED ? 'app.' : ''}${source}_${name}`

/** The bounds of the partition `early`. */
export const EARLY = `for values from (minvalue) to ('2026-09-22T00:00:00Z')`

/**
 * Replaces a raw table under its views by a partitioned one without foreign keys, and tracks it: `early` through 21
 * September, `late` on 22 September with the partitions `late_zero` of `model-0` and `late_other`, and `other`.
 */
export async function partition(client: pg.ClientBase, its: Partitioned): Promise<void> {
  const table = tableOf(its.source)
  const { rows: views } = await client.query<{ name: string; query: string }>(
    `select distinct ev_class::regclass::text as name, pg_get_viewdef(ev_class) as query
     from pg_rewrite
     join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
     where refobjid = $1::regclass and ev_class <> refobjid`,
    [table],
  )
  const of = (name: string) => partitionOf(its, name)
  await client.query(`
    alter table ${table} rename to unpartitioned;
    create table ${table} (like ${table.replace(/\w+$/, 'unpartitioned')} including defaults) partition by range (${its.time});
    create table ${of('late')} partition of ${table}
      for values from ('2026-09-22T00:00:00Z') to ('2026-09-23T00:00:00Z') partition by list (${its.list});
    create table ${of('late_zero')} partition of ${of('late')} for values in ('model-0');
    create table ${of('late_other')} partition of ${of('late')} default;
    create table ${of('other')} partition of ${table} default;
    ${views.map(({ name, query }) => `create or replace view ${name} as ${query}`).join('')};
    drop table ${table.replace(/\w+$/, 'unpartitioned')} cascade;
    select daily.install_triggers('${table}', '${its.source}')`)
  for (const name of ['late', 'late_zero', 'late_other', 'other']) await client.query(viewOf(its, name))
  await client.query(addEarly(its))
}

/** SQL that adds the partition `early`, with rows which a statement inserts before it is attached. */
export const addEarly = (its: Partitioned, insert = ''): string => `
  create table ${partitionOf(its, 'early')} (like ${tableOf(its.source)} including defaults);
  ${viewOf(its, 'early')}; ${insert};
  ${attachEarly(its)}`

/** SQL that attaches the partition `early`. */
export const attachEarly = (its: Partitioned): string => `
  alter table ${tableOf(its.source)} attach partition ${partitionOf(its, 'early')} ${EARLY};
  select daily.log_partition('${partitionOf(its, 'early')}', '${its.source}')`

/** SQL that detaches the partition `early`. */
export const detachEarly = (its: Partitioned): string => `
  select daily.log_partition('${partitionOf(its, 'early')}', '${its.source}');
  alter table ${tableOf(its.source)} detach partition ${partitionOf(its, 'early')}`

/** SQL that drops the partition `early`. */
export const dropEarly = (its: Partitioned): string => `
  select daily.log_partition('${partitionOf(its, 'early')}', '${its.source}');
  drop table ${partitionOf(its, 'early')} cascade`

/** SQL of the name under which rows of a partition are written, over the tables of another application. */
function viewOf(its: Partitioned, name: string): string {
  if (!MAPPED) return ''
  return `do $$ begin
    execute replace(
      'create view public.${its.source}_${name} as ' || pg_get_viewdef('public.${its.source}'::regclass),
      'FROM ${tableOf(its.source)}', 'FROM ${partitionOf(its, name)} as ${tableOf(its.source).replace(/^.*\./, '')}');
    end $$`
}

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
  truncatePartition: (a) => `truncate ${partitionOf(ANSWERS, ['early', 'late_zero', 'late'][a % 3] ?? '')}`,
  attach: () => attachEarly(ANSWERS),
  detach: () => detachEarly(ANSWERS),
  dropPartition: () => dropEarly(ANSWERS),
  addPartition: (a, b, c, d) => addEarly(ANSWERS, PARTITION_CHANGES.addToEarly?.(a, b, c, d)),
}

/** SQL that restores the partitions of the answers, without rows. */
export const RESTORE_PARTITIONS = `
  truncate ${tableOf('answers')} cascade;
  drop table if exists ${partitionOf(ANSWERS, 'early')} cascade;
  ${addEarly(ANSWERS)}`
