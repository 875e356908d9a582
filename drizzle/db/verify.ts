import type { ClientBase } from 'pg'
import { isDataError } from './sql-state.ts'

/** What to compare: one brand or all, between two days (inclusive, `YYYY-MM-DD`) or all days. */
export type Extent = {
  readonly brandId?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * A row that only the view has (`missing`) or only the daily table (`wrong`), a day whose rows the view cannot compute
 * (`failed`), a day whose `listed` rows, totals or digest are not those that are `stored` (`changes`), or a day on which
 * metrics count other answers (`answers`).
 */
export type Difference = {
  readonly metric: string
  readonly kind: 'missing' | 'wrong' | 'failed' | 'changes' | 'answers'
  /** Whether its day is in the queue, or may be in the log, so that the next refresh computes it. */
  readonly waiting: boolean
  readonly row: Readonly<Record<string, unknown>>
}

/** What to compare with one statement. */
type Part = Extent & { readonly metric: string; readonly stored: string; readonly brandId: string }

/**
 * Compares the daily tables with the views, and daily.changes with the daily tables, one metric and brand at a time,
 * each in one snapshot.
 */
export async function* verify(client: ClientBase, extent: Extent): AsyncGenerator<Difference> {
  await client.query('select daily.check_metrics()')
  const { rows } = await client.query<{ path: string }>(`select current_setting('search_path') as path`)
  // A function of a mapped view finds what a refresh finds.
  await client.query(
    'set search_path = pg_catalog, pg_temp; set extra_float_digits = 1; set bytea_output = hex; set jit = off',
  )
  try {
    yield* compareAll(client, extent)
  } finally {
    await client.query(`select set_config('search_path', $1, false)`, [rows[0]?.path])
    await client.query(
      'reset extra_float_digits; reset bytea_output; reset jit; reset enable_seqscan; reset enable_hashjoin; reset enable_mergejoin',
    )
  }
}

async function* compareAll(client: ClientBase, extent: Extent): AsyncGenerator<Difference> {
  for (const metric of await metricsOf(client)) {
    const stored = `daily.${client.escapeIdentifier(metric)}`
    const columns = await columnsOf(client, stored)
    const { rows: brands } = await client.query<{ id: string }>(
      `select id from (
         select id from export_source.brands union select brand_id from ${stored} union select brand_id from daily.changes
       ) as known
       where id = $1 or $1::uuid is null order by id`,
      [extent.brandId],
    )
    for (const { id } of brands) {
      const part = { ...extent, metric, stored, brandId: id }
      yield* compareRows(client, part, columns)
      yield* await compareChanges(client, part)
    }
  }
  yield* await compareAnswers(client, extent)
}

// Times outside of the calendar are on no day.
const CONDITION = `where brand_id = $1 and date between coalesce($2::date, '0001-01-01') and coalesce($3::date, '9999-12-31')`

/**
 * Compares all rows of a part. When a value cannot be computed, reads by index lookups alone, as daily.recompute_alone does,
 * then day by day, to name the days.
 */
async function* compareRows(client: ClientBase, part: Part, columns: string): AsyncGenerator<Difference> {
  const { metric, stored, brandId, from, to } = part
  const find = (days: Pick<Extent, 'from' | 'to'>) =>
    findDifferentRows(client, { ...part, ...days }, columns).catch((error) => {
      if (error instanceof Error && isDataError(error)) return error
      throw error
    })
  let found = await find({})
  if (found instanceof Error) {
    await client.query('set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off')
    found = await find({})
  }
  if (!(found instanceof Error)) return yield* found
  const fail = (date: string | null, { message }: Error): Difference[] => [
    { metric, kind: 'failed', waiting: false, row: { brand_id: brandId, date, error: message } },
  ]
  const { rows: days } = await client.query<{ day: string }>(
    `select date::text as day from ${stored} ${CONDITION}
     union select date::text from daily.refresh_queue ${CONDITION} and metric = $4 order by day`,
    [brandId, from, to, metric],
  )
  let hasFailed = false
  for (const { day } of days) {
    const ofDay = await find({ from: day, to: day })
    hasFailed ||= ofDay instanceof Error
    yield* ofDay instanceof Error ? fail(day, ofDay) : ofDay
  }
  if (!hasFailed) yield* fail(null, found)
}

async function findDifferentRows(client: ClientBase, part: Part, columns: string): Promise<Difference[]> {
  const { metric, stored, brandId, from, to } = part
  const view = `metrics.${client.escapeIdentifier(metric)}`
  const { rows } = await client.query<Difference>(
    `with fresh as materialized (select ${columns} from ${view} ${CONDITION}),
     stored as materialized (select ${columns} from ${stored} ${CONDITION}),
     differing as (
       select 'missing' as kind, * from (select * from fresh except select * from stored) as missing
       union all
       select 'wrong', * from (select * from stored except select * from fresh) as wrong)
     select $4 as metric, case when queued.last_error is not null then 'failed' else kind end as kind,
       queued.date is not null or exists (select from daily.change_log) as waiting,
       to_jsonb(differing) - 'kind' || case when queued.last_error is null then '{}' else jsonb_build_object('error', queued.last_error) end as row
     from differing
     left join daily.refresh_queue as queued on queued.metric = $4 and queued.brand_id = $1 and queued.date = differing.date
     order by differing.date, kind`,
    [brandId, from, to, metric],
  )
  return rows
}

async function compareChanges(client: ClientBase, part: Part): Promise<Difference[]> {
  const { metric, stored, brandId, from, to } = part
  const { rows } = await client.query<Difference>(
    `with listed as (
       select changes.* from daily.changes join daily.row_schemas using (endpoint) ${CONDITION} and metric = $4
     ), days as (
       select date from ${stored} ${CONDITION} union select date from listed
     )
     select $4 as metric, 'changes' as kind, false as waiting, jsonb_build_object(
       'brand_id', brand_id,
       'date', date,
       'listed', jsonb_build_object('rows', listed.rows, 'totals', listed.totals, 'digest', listed.digest),
       'stored', jsonb_build_object('rows', stored.rows, 'totals', stored.totals, 'digest', stored.digest)
     ) as row
     from daily.summarize($4, array(select $1::uuid from days), array(select date from days)) as stored
     left join listed using (brand_id, date)
     where (listed.rows, listed.totals::text, listed.digest) is distinct from (stored.rows, stored.totals::text, stored.digest)
     order by date`,
    [brandId, from, to, metric],
  )
  return rows
}

/** Every metric counts the same answers: compares `total_responses` with the sum of `total_prompts`, for each day. */
async function compareAnswers(client: ClientBase, { brandId, from, to }: Extent): Promise<Difference[]> {
  const { rows } = await client.query<Difference>(
    `with responses as (
       select brand_id, date, max(total_responses) as total_responses from daily.competitors group by brand_id, date
     ), prompts as (
       select brand_id, date, sum(total_prompts)::int as total_prompts from daily.visibility group by brand_id, date
     )
     select 'competitors' as metric, 'answers' as kind, exists (
       select from daily.refresh_queue as queue where queue.brand_id = counted.brand_id and queue.date = counted.date
     ) or exists (select from daily.change_log) as waiting, to_jsonb(counted) as row
     from (select * from responses left join prompts using (brand_id, date)) as counted
     where brand_id = coalesce($1, brand_id) and brand_id in (select id from export_source.brands)
       and date between coalesce($2::date, '0001-01-01') and coalesce($3::date, '9999-12-31')
       and total_prompts is distinct from total_responses
     order by brand_id, date`,
    [brandId, from, to],
  )
  return rows
}

/** Tables or partitions without triggers, and the statement that installs these. */
type Untracked = { readonly tables: string; readonly remedy: string }

/** Returns the tables and partitions whose changes no trigger tracks, unless the rolling window replaces the triggers. */
export async function untracked(client: ClientBase): Promise<Untracked[]> {
  const { rows } = await client.query<Untracked>(
    `select string_agg(distinct base::text, ', ' order by base::text) as tables,
       case when is_partition
         then 'select daily.log_partition(base, source) from daily.untracked_tables() where is_partition'
         else 'select daily.install_triggers(base, source) from daily.untracked_tables() where not is_partition'
       end as remedy
     from daily.untracked_tables()
     where not exists (select from daily.rolling_window)
     group by is_partition order by is_partition`,
  )
  return rows
}

/** Returns the names of all metrics, which are the names of their views and daily tables. */
export async function metricsOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ metric: string }>(
    'select distinct metric from daily.sources order by metric',
  )
  return rows.map(({ metric }) => metric)
}

async function columnsOf(client: ClientBase, stored: string): Promise<string> {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [stored],
  )
  return rows[0]?.columns ?? ''
}
