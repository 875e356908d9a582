import { type SQL, sql } from 'drizzle-orm'
import { accessColumns, activeKey, canReadEach } from '../access/access.ts'
import { renderStatement } from '../database/statement.ts'
import { dayOfWindow, windows } from '../statement/window.ts'

// Each call of the protocol is one statement, so that key, plan, brands, clamp and objects are of one snapshot. It returns
// no row without an active key, else one.

/** SQL of a placeholder as a type; an empty text stands for null. */
const param = (name: string, type: string): SQL => sql`nullif(${sql.placeholder(name)}, '')::${sql.raw(type)}`

const iso = (time: SQL): SQL => sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL of the time of a version's commit in the milliseconds that every response shows, so that it can be asked for. */
const COMMITTED_AT = sql`date_trunc('milliseconds', versions.committed_at)`

/** SQL of the access columns and of what every call says of the share: its tables, and its oldest and latest version. */
const SHARE = sql`
  ${accessColumns},
  (select json_object_agg(metric, columns order by metric) from daily.shared_tables)::text as tables,
  (select min(version) from daily.versions)::text as oldest,
  (select ${iso(sql`committed_at`)} from daily.versions order by version limit 1) as oldest_at,
  (select max(version) from daily.versions)::text as latest`

/** SQL of the first version at a time or later, and of the version that was the latest at a time. */
const firstSince = (time: SQL): SQL =>
  sql`(select min(version) from daily.versions where ${COMMITTED_AT} >= ${time})`
const lastUntil = (time: SQL): SQL =>
  sql`(select max(version) from daily.versions where ${COMMITTED_AT} <= ${time})`

/** Describes the share. `start` is the first version since `startingTimestamp`. */
export const shareStatement = renderStatement(sql`
  with access as materialized (${activeKey})
  select ${SHARE}, ${firstSince(param('startingTimestamp', 'timestamptz'))}::text as start
  from access`)

/** SQL condition: a list of brands is empty or has the brand. */
const isListed = (name: string): SQL =>
  sql`(${param(name, 'text')} is null or brand.id in (select unnest(${param(name, 'uuid[]')})))`

/**
 * SQL of the brands that the key reads, each with the first day that its plan reads, with the brands of the hints, and with
 * those and the first day of the refresh token.
 */
const READABLE = sql`
  readable as materialized (
    select brand.id, greatest(${dayOfWindow('first')}, ${param('token_first', 'date')}) as clamp
    from access
    cross join ${windows}
    join export_source.brands as brand on ${canReadEach}
    where ${isListed('brand_ids')} and ${isListed('token_brands')}
  )`

/**
 * SQL of the objects of the table that may be read now, by a condition on their versions. Reads the days of the hints once, by
 * a subquery: a cast would read them for each object.
 */
const readableObjects = (...conditions: readonly SQL[]): SQL => sql`
    select objects.*
    from readable
    cross join lateral (${sql.join(
      conditions.map(
        (condition) => sql`
      select * from daily.objects
      where metric = ${sql.placeholder('metric')} and brand_id = readable.id and ${condition}`,
      ),
      sql` union all `,
    )}
    ) as objects
    where objects.period = 'brand' or objects.first >= readable.clamp
      and (daterange(objects.first, objects.last, '[]') && (select ${param('days', 'datemultirange')})) is not false`

/** SQL of the first and last day of an object; null for a brand's own row. */
const DAYS = sql`nullif(first, '-infinity'), nullif(last, '-infinity')`

/**
 * Describes a table at a version, and names its objects: of all that do not begin before the clamp, those that no larger one
 * contains. `version` is the asked one, or the latest before it; null when it is older than the oldest.
 */
const snapshot = (objects: SQL): SQL => sql`
  with access as materialized (${activeKey}), ${READABLE},
  asked as materialized (
    select version, ${iso(COMMITTED_AT)} as committed_at
    from daily.versions
    where (version <= ${param('version', 'integer')}) is not false
      and (${COMMITTED_AT} <= ${param('timestamp', 'timestamptz')}) is not false
    order by version desc
    limit 1
  ),
  current as materialized (${readableObjects(
    sql`added <= (select version from asked) and removed is null`,
    sql`added <= (select version from asked) and removed > (select version from asked)`,
  )}
  ),
  placed as (
    -- An object is contained when one that begins no later, and is not of its set, ends no earlier.
    select *, max(last) over (
      partition by brand_id order by first, last desc groups between unbounded preceding and 1 preceding
    ) >= last as is_contained
    from current
  ),
  named as (select * from placed where is_contained is not true)
  select ${SHARE}, asked.version::text, asked.committed_at, (select min(clamp) from readable)::text as first,
    (select json_build_object('size', coalesce(sum(bytes), 0), 'numFiles', count(*)) from named)::text as size,
    ${objects}
  from access
  left join asked on true`

/** Describes a table at a version. */
export const metadataStatement = renderStatement(snapshot(sql`null as objects`))

/** Names the objects of a table at a version. */
export const snapshotStatement = renderStatement(
  snapshot(sql`
    (select json_agg(json_build_array(id, bytes, rows, brand_id, ${DAYS}) order by brand_id, first, id)
     from named)::text as objects`),
)

/**
 * Names the days that versions added and removed, from one version through another. `start` is 0 for a time before the
 * oldest version, and the next version for a time after the latest. `until` is the latest version at most.
 */
export const changesStatement = renderStatement(sql`
  with access as materialized (${activeKey}), ${READABLE},
  asked as materialized (
    select
      case
        when ${param('startingTimestamp', 'timestamptz')} is null then ${param('startingVersion', 'integer')}
        when ${lastUntil(param('startingTimestamp', 'timestamptz'))} is null then 0
        else coalesce(
          ${firstSince(param('startingTimestamp', 'timestamptz'))}, (select max(version) + 1 from daily.versions))
      end as start,
      case
        when ${param('endingTimestamp', 'timestamptz')} is not null
          then coalesce(${lastUntil(param('endingTimestamp', 'timestamptz'))}, 0)
        else least(${param('endingVersion', 'integer')}, (select max(version) from daily.versions))
      end as until
  ),
  changed as materialized (${readableObjects(
    sql`added between (select start from asked) and (select until from asked) and period in ('day', 'brand')`,
    sql`removed between (select start from asked) and (select until from asked)
        and added < (select start from asked) and period in ('day', 'brand')`,
  )}
  )
  select ${SHARE}, asked.start::text, asked.until::text, named.objects
  from access
  cross join asked
  cross join lateral (
    select json_agg(json_build_array(
      id, bytes, rows, brand_id, ${DAYS}, action.name, action.version, ${iso(sql`versions.committed_at`)}
    ) order by action.version, action.name desc, brand_id, first, id)::text as objects
    from changed
    cross join lateral (values ('add', changed.added), ('remove', changed.removed)) as action (name, version)
    join daily.versions on versions.version = action.version
    where action.version between asked.start and asked.until
  ) as named`)
