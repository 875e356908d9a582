import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import { ACCESS_COLUMNS, accessColumns, activeKey, canRead, canReadEach } from '../access/access.ts'
import { type PreparedStatement, prepareStatement } from '../database/statement.ts'
import { instant } from '../refresh/as-of.ts'
import { count, fieldNames, type RowSchema } from '../rows/schema.ts'
import type { Size } from '../rows/size.ts'
import { AFTER_TIMES, type PagedRows } from '../statement/page-statement.ts'
import { dayOfWindow, windows } from '../statement/window.ts'
import { aggregateColumns, columnNames, columnOf, lines, list, names } from '../statement/wire.ts'
import { START } from './cursor.ts'

// A page of days is one statement, which checks access, brand and window, lists days, and reads their rows: all of one
// snapshot, in one round trip. `npm run sql -- days` prints it. docs/architecture.md explains its parts.

/** The rows of a metric as they travel: without their date, which is that of the day. */
export type DayRows = {
  readonly rows: PagedRows
  /** The metric's name in paths and in daily.changes. */
  readonly endpoint: string
  /** Begins the names of its columns in a result. */
  readonly prefix: string
  readonly sent: RowSchema
  /** The columns that order and identify the rows of a day. */
  readonly key: readonly string[]
}

/** Returns how the rows of a metric travel. */
export const dayRowsOf = (rows: PagedRows): DayRows => {
  const endpoint = rows.path.slice(1)
  return {
    rows,
    endpoint,
    prefix: `${endpoint.replaceAll('-', '_')}_`,
    sent: z.object(Object.fromEntries(Object.entries(rows.row.shape).filter(([name]) => name !== 'date'))),
    key: rows.key.filter((name) => name !== 'date'),
  }
}

/** The columns of a result besides those of the access, of the days and of their rows. */
export const RUN_COLUMNS = [
  'restarts',
  'until',
  'first',
  'clock',
  'list',
  'as_of',
  'is_known',
  'sent',
  'has_more',
  'last_key',
] as const

/** The fields of a day besides its rows, with how many of these a page has. */
export const sentDay = (day: RowSchema): RowSchema => z.extend(day, { part: count('Rows of this page.') })

const at = (name: string): SQL => sql`${sql.placeholder(name)}::text`

/** A text that sorts after every endpoint. */
const AFTER_ENDPOINTS = sql.raw(`'~'`)

/** The least value of each type of a key's columns. */
const LEAST: Readonly<Record<string, string>> = {
  'text COLLATE "C"': `''`,
  uuid: `'${START.brand_id}'`,
  boolean: `'false'`,
}

/**
 * Builds the statement of a page of days. `day` has the fields of a day besides its rows. Placeholders: those of
 * `activeKey`, `window_by_plan`, `only_brand` and `only_endpoint`, null for all, and the fields of a position; its `list` is
 * null without a cursor.
 */
export function daysStatement(metrics: readonly DayRows[], day: RowSchema, size: Size): PreparedStatement {
  const most = sql.raw(String(size.rows))
  const bytes = sql.raw(String(size.bytes))
  // The database has days of further metrics until their Workers are deployed, and lists them afterwards.
  const endpoints = list(metrics.map(({ endpoint }) => sql.raw(`'${endpoint}'`)))
  const statement = sql`
    with access as materialized (${activeKey}),
    run as materialized (
      select *,
        case when restarts then '' else ${at('since')} end as since,
        case when restarts then '' else ${at('had')} end as had,
        case when restarts or ${at('until')} = '' then coalesce(clock, '') else ${at('until')} end as until,
        case when not restarts then ${at('brand_id')}::uuid end as last_brand
      from (
        select
          access.*, ${dayOfWindow('first')} as first, key.list, coalesce(key.list <> ${at('list')}, false) as restarts,
          (select to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from daily.changes_clock) as clock
        from access cross join ${windows}
        cross join lateral (select coalesce(left(md5(brand_ids::text), 12), '') as list) as key
      ) as reading
    ),
    reader as materialized (
      -- Days before had are new to the reader: its plan reaches further back than before.
      select *, coalesce(nullif(had, '')::date, '-infinity') as had_from,
        had <> '' and first < had::date as widens,
        case when ${at('timed')} = '' then '${sql.raw(AFTER_TIMES)}' else until end as latest
      from run
    ),
    sent as materialized (
      select
        brand_id, endpoint, date, changed_at, digest, rows as row_count, "offset", is_followed,
        case when since = '' or date < had_from or first_changed_at > since then '{}' else '{' || coalesce((
          select string_agg(format('"%s":"%s"', kind, time), ',') from json_each_text(causes) as cause (kind, time) where time > since
        ), '') || '}' end as causes,
        least(rows - "offset", case when bytes <= ${bytes} then rows
          else greatest(1, rows::bigint * ${bytes} / bytes) end)::int as part
      from (
        select *, row_number() over so_far as place, sum(rows) over so_far as rows_so_far,
          -- The sum of a bigint would be numeric, which costs more.
          sum(bytes::float8) over so_far as bytes_so_far, lead(true, 1, false) over so_far as is_followed
        from (
          select readable.id as brand_id, changes.*
          from reader
          cross join lateral (
            select brand.id from access cross join export_source.brands as brand
            where ${canReadEach} and brand.id >= coalesce(last_brand, '${sql.raw(START.brand_id)}')
              and (${at('only_brand')}::uuid is null or brand.id = ${at('only_brand')}::uuid)
            order by brand.id
            offset 0
          ) as readable
          cross join lateral (
            select endpoint, date, changed_at, first_changed_at, causes, digest, rows, bytes from daily.changes
            where changes.brand_id = readable.id and date >= reader.first
              and endpoint in (${endpoints}) and (${at('only_endpoint')} is null or endpoint = ${at('only_endpoint')})
              and (changed_at, endpoint, date) > (
                case when readable.id = last_brand then ${at('changed_at')} when widens then '' else since end,
                case when readable.id = last_brand then ${at('endpoint')} when widens then '' else ${AFTER_ENDPOINTS} end,
                case when readable.id = last_brand then ${at('date')}::date - (${at('offset')} <> '0')::int
                  when widens then '-infinity' else 'infinity' end)
              -- With OR, Postgres would look for either condition, and sort all days of the brand.
              and case when date < had_from then true else changed_at > since end
              and changed_at <= latest
            order by changed_at, endpoint, date
            limit ${most} + 1
          ) as changes
          -- No ORDER BY, whose sort would read the days of all brands. A lateral LIMIT leaves nested loops alone: brands come in
          -- the order of the subquery above, and their days in that of the index.
          limit ${most} + 1
        ) as changes
        window so_far as (rows unbounded preceding)
      ) as listed
      cross join reader
      cross join lateral (
        select case when brand_id = reader.last_brand and changed_at = ${at('changed_at')} and endpoint = ${at('endpoint')}
          and date = ${at('date')}::date then ${at('offset')}::int else 0 end as "offset"
      ) as earlier
      where place = 1 or place <= ${most} and rows_so_far <= ${most} and bytes_so_far <= ${bytes}
    )
    select
      ${accessColumns}, restarts::text, until, first::text, clock, list,
      ${instant(sql`least((select as_of from daily.progress), (
        select min(as_of) from access cross join daily.queued_brands as queued
        join export_source.brands as brand on brand.id = queued.brand_id and ${canReadEach}
        where ${at('only_brand')}::uuid is null or brand.id = ${at('only_brand')}::uuid))`)} as as_of,
      (${at('only_brand')}::uuid is null or exists (
        select from access cross join export_source.brands as brand where brand.id = ${at('only_brand')}::uuid and ${canRead}
      ))::text as is_known,
      (select count(*) from sent)::text as sent,
      (select coalesce(bool_and(is_followed), false) from sent)::text as has_more,
      coalesce(${list(metrics.map(({ prefix }) => sql`${sql.identifier(prefix)}.last_key`))}) as last_key,
      days.*,
      ${lines(metrics.map(selectedColumns))}
    from reader
    cross join lateral (
      select ${list(aggregateColumns(sentDay(day)))} from sent as page
    ) as days
    ${sql.join(metrics.map(rowsOf), sql``)}`
  return prepareStatement(statement, [
    ...ACCESS_COLUMNS,
    ...RUN_COLUMNS,
    ...columnNames(sentDay(day)),
    ...metrics.flatMap(({ sent, prefix }) => columnNames(sent, prefix)),
  ])
}

const selectedColumns = ({ sent, prefix }: DayRows): SQL =>
  list(columnNames(sent, prefix).map((name) => sql`${sql.identifier(prefix)}.${sql.identifier(name)}`))

/** SQL of a relation with the rows of a metric's days, and the key of the last row when the last day has further rows. */
function rowsOf({ rows: { table }, endpoint, prefix, sent, key }: DayRows): SQL {
  const bound = key.map((name, index) => {
    const type = columnOf(table, name).getSQLType()
    const least = sql.raw(LEAST[type] ?? 'null')
    return sql`case when "offset" > 0 then ${at('key')}::json ->> ${sql.raw(String(index))} else ${least} end::${sql.raw(type)}`
  })
  const order = key.length > 0 ? sql`order by ${names(key)}` : sql``
  const after =
    key.length > 0
      ? sql`and (${names(key)}) >= (${list(bound)}) and not ("offset" > 0 and (${names(key)}) = (${list(bound)}))`
      : sql``
  return sql`
    cross join lateral (
      select ${list(aggregateColumns(sent, [], prefix))},
        case when bool_or(is_part) then ${lastKeyOf(key)} end as last_key
      from (
        select stored.*, "offset" + part < row_count as is_part
        from sent
        cross join lateral (
          select ${names(new Set([...fieldNames(sent), ...key]))}
          from ${table} as stored
          where stored.brand_id = sent.brand_id and stored.date = sent.date ${after}
          ${order} limit part
        ) as stored
        where sent.endpoint = ${sql.raw(`'${endpoint}'`)}
      ) as page
    ) as ${sql.identifier(prefix)}`
}

const lastKeyOf = (key: readonly string[]): SQL =>
  key.length === 0
    ? sql`null`
    : sql`json_build_array(${list(key.map((name) => sql`(array_agg(page.${sql.identifier(name)}) filter (where is_part))[count(*)]`))})::text`
