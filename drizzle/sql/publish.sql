-- daily.files and daily.versions: what the share holds of each table (docs/share.md, How files are published).

-- The tables of the share: where their rows are, their columns in order, each with its type in Delta's schemas, and the
-- columns that order a brand's rows.
create or replace view daily.shared_tables as
  with shared as (
    select metric, endpoint, fields, format('daily.%I', metric)::regclass as relation, 'brand_id' as brand
    from daily.row_schemas
    union all
    select 'brands', 'brands', array_agg(attname::text order by attnum), attrelid::regclass, 'id'
    from pg_catalog.pg_attribute
    where attrelid = 'metrics.brands'::regclass and attnum > 0 and attname not in ('organization_id', 'active')
    group by attrelid
  )
  select
    metric, endpoint, relation, fields, brand,
    json_build_array(json_build_object('name', 'brand_id', 'type', 'string'))::jsonb || columns.columns as columns,
    coalesce(keys.keys, quote_ident(brand)) as keys
  from shared
  cross join lateral (
    select jsonb_agg(jsonb_build_object('name', field, 'type', case atttypid
      when 'date'::regtype then 'date'
      when 'integer'::regtype then 'long'
      when 'numeric'::regtype then 'double'
      when 'boolean'::regtype then 'boolean'
      else 'string' end) order by place) as columns
    from unnest(fields) with ordinality as sent (field, place)
    join pg_catalog.pg_attribute on attrelid = relation and attname = field
  ) as columns
  cross join lateral (
    select string_agg(quote_ident(attname), ', ' order by attnum) as keys
    from pg_catalog.pg_index join pg_catalog.pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indrelid = relation and indisprimary
  ) as keys;

-- Returns the rows of a brand and table between two days, or the brand's own row, after the first `skip` rows: `rows`, an
-- array of arrays that take up to `max_bytes` (at least one), and whether there are `more`. A row has more than 50 bytes.
create or replace function daily.read_rows(
  of_metric text, of_brand uuid, first date, last date, skip integer, max_bytes integer, out rows text, out more boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp set datestyle = iso as $function$
begin
  execute (
    select format(
      'with page as (
         select row_number() over (order by %1$s) as place, json_build_array(%2$s, %3$s)::text as json
         from %4$s where %2$s = $1 %5$s
         order by %1$s offset $4 limit $5 / 50 + 1
       ), sized as (
         select place, json, sum(octet_length(json) + 1) over (order by place) <= $5 or place = $4 + 1 as fits from page
       )
       select coalesce(''['' || string_agg(json, '','' order by place) filter (where fits) || '']'', ''[]''),
         coalesce(bool_or(not fits), false)
       from sized',
      keys,
      quote_ident(brand),
      (select string_agg(quote_ident(field), ', ' order by place) from unnest(fields) with ordinality as sent (field, place)),
      relation,
      case when read_rows.first is not null then 'and date between $2 and $3' end)
    from daily.shared_tables where metric = of_metric)
  into rows, more
  using of_brand, first, last, skip, max_bytes;
end
$function$;

-- Returns the latest change of the days of a brand and table; null when they never had rows.
create or replace function daily.stamp_of(of_metric text, of_brand uuid, first date, last date) returns text
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select max(changed_at)
  from daily.row_schemas join daily.changes using (endpoint)
  where metric = of_metric and brand_id = of_brand and date between first and last
$function$;

-- Lists the days and brands whose rows no set of the current version and no staged set holds. `stamp` is what their sets
-- get. `rows` is 0 for a day that has emptied and for a brand that is gone.
create or replace function daily.unpublished()
returns table (metric text, brand_id uuid, date date, stamp text, digest text, rows integer)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with recursive last as (
    select coalesce((select through from daily.versions order by version desc limit 1), '') as through
  ), known as (
    -- Each brand of daily.changes, by one index search.
    (select changes.brand_id from daily.changes order by brand_id limit 1)
    union all
    select (select changes.brand_id from daily.changes where changes.brand_id > known.brand_id order by brand_id limit 1)
    from known where known.brand_id is not null
  ), brand as (
    select id, md5(row (brands.*)::text) as digest from metrics.brands
  ), latest as (
    select distinct on (files.brand_id) files.brand_id, files.digest
    from daily.files where files.metric = 'brands' and files.removed is null and files.stamp is not null
    order by files.brand_id, files.stamp desc
  )
  select row_schemas.metric, changes.brand_id, changes.date, changes.changed_at, null, changes.rows
  from last
  cross join known
  cross join lateral (
    select * from daily.changes where changes.brand_id = known.brand_id and changes.changed_at > last.through
  ) as changes
  join daily.row_schemas using (endpoint)
  where not exists (
      select from daily.files
      where files.metric = row_schemas.metric and files.brand_id = changes.brand_id
        and files.first = changes.date and files.last = changes.date
        and files.removed is null and files.stamp = changes.changed_at)
    and (changes.rows > 0 or exists (
      select from daily.files
      where files.metric = row_schemas.metric and files.brand_id = changes.brand_id
        and files.first = changes.date and files.last = changes.date and files.removed is null and files.rows > 0))
  union all
  select
    'brands', coalesce(brand.id, latest.brand_id), null,
    to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    brand.digest, (brand.id is not null)::int
  from brand full join latest on latest.brand_id = brand.id
  where brand.digest is distinct from latest.digest
$function$;

-- Reads the rows of unpublished days and brands, up to `max_sets` and about `max_bytes`, in one snapshot. Returns JSON:
--   cut    the greatest changed_at of the snapshot
--   sets   for each its metric, brand_id, date, stamp, digest and rows; `more` when the rows are not complete
--   more   whether others are unpublished: when not, the sets that are staged then equal the tables at this moment
create or replace function daily.read_unpublished(max_sets integer, max_bytes integer) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $function$
declare
  changed record;
  part record;
  sets text[] := '{}';
  bytes bigint := 0;
  more boolean := false;
begin
  for changed in select metric, brand_id, date, stamp, digest from daily.unpublished() limit max_sets + 1 loop
    more := cardinality(sets) = max_sets or bytes > max_bytes;
    exit when more;
    part := daily.read_rows(changed.metric, changed.brand_id, changed.date, changed.date, 0, max_bytes);
    sets := sets || format('{"set":%s,"rows":%s,"more":%s}', to_json(changed), part.rows, to_json(part.more));
    bytes := bytes + octet_length(part.rows);
  end loop;
  return format('{"cut":%s,"more":%s,"sets":[%s]}', to_json(daily.cut()), to_json(more), array_to_string(sets, ','));
end
$function$;

-- The stamp of the latest change; empty when there is none.
create or replace function daily.cut() returns text
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select coalesce(max(to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')), '') from daily.changes_clock
$function$;

-- Returns the columns of each table of the share.
create or replace function daily.read_columns() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $function$
  select json_object_agg(metric, columns)::text from daily.shared_tables
$function$;

-- Reads rows of one set that is read in parts, as daily.read_rows does. `stamp` tells whether they changed in between.
create or replace function daily.read_part(
  of_metric text, of_brand uuid, first date, last date, skip integer, max_bytes integer
) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $function$
  select format('{"stamp":%s,"rows":%s,"more":%s}',
    to_json(daily.stamp_of(of_metric, of_brand, first, last)), part.rows, to_json(part.more))
  from daily.read_rows(of_metric, of_brand, first, last, skip, max_bytes) as part
$function$;

-- Lists the calendar months to write as one set: those before the days that any limited plan reads, `lookback` days before
-- today, whose days have several files and whose own set is missing or not current.
create or replace function daily.uncompacted(lookback integer) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $function$
  with month as (
    select metric, brand_id, date_trunc('month', first)::date as first
    from daily.files
    where added is not null and removed is null and first = last
      and first < date_trunc('month', (now() at time zone 'UTC')::date - lookback)
    group by 1, 2, 3
    having count(distinct files.first) > 1
  )
  select coalesce(json_agg(json_build_object(
    'metric', metric, 'brand_id', brand_id, 'first', month.first, 'last', month_end.last)), '[]')::text
  from month
  cross join lateral (select (month.first + interval '1 month - 1 day')::date as last) as month_end
  where not exists (
    select from daily.files
    where files.metric = month.metric and files.brand_id = month.brand_id
      and files.first = month.first and files.last = month_end.last and files.removed is null
      and files.stamp = daily.stamp_of(month.metric, month.brand_id, month.first, month_end.last))
$function$;

-- Lists files before their objects are written. Those of emptied days and of brands that are gone have no object, and so
-- come with their stamp.
create or replace function daily.stage(staged json) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $function$
  insert into daily.files (id, set_id, metric, brand_id, first, last, stamp)
  select id, set_id, metric, brand_id, first, last, stamp
  from json_to_recordset(staged) as file (
    id uuid, set_id uuid, metric text, brand_id uuid, first date, last date, stamp text)
$function$;

-- Completes sets whose objects are all written.
create or replace function daily.complete(written json) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $function$
  update daily.files set rows = file.rows, bytes = file.bytes, stamp = file.stamp, digest = file.digest
  from json_to_recordset(written) as file (id uuid, rows integer, bytes integer, stamp text, digest text)
  where files.id = file.id and files.stamp is null and files.staged_at > '-infinity'
$function$;

-- Commits a version whose files equal the tables at the moment of `cut`, as daily.read_unpublished returned it with no
-- more to read. Of each day takes the latest staged set up to the cut. Days that changed after it belong to the next
-- version. Returns the version; null when there is nothing to commit, or when another publisher has committed a later cut.
create or replace function daily.commit_version(cut text, keep_days integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  last daily.versions;
  next integer;
  committed integer;
begin
  perform pg_advisory_xact_lock(hashtext('daily.publish'));
  select * into last from daily.versions order by version desc limit 1;
  if last.through > cut then return null; end if;
  -- The minutes since 1970, so that a restored backup repeats no number.
  next := greatest(last.version + 1, (extract(epoch from clock_timestamp()) / 60)::int);

  with candidate as (
    select distinct on (metric, brand_id, first, last) *
    from daily.files
    where added is null and (metric = 'brands' or stamp <= cut)
    order by metric, brand_id, first, last, stamp desc, set_id
  ), chosen as materialized (
    select candidate.set_id, candidate.metric, candidate.brand_id, candidate.first, candidate.last
    from candidate
    left join lateral (
      select max(files.stamp) as stamp from daily.files
      where files.metric = candidate.metric and files.brand_id = candidate.brand_id
        and (files.first, files.last) is not distinct from (candidate.first, candidate.last)
        and files.added is not null and files.removed is null
    ) as current on true
    where candidate.stamp > coalesce(current.stamp, '')
      and (candidate.rows > 0 or current.stamp is not null)
      -- A month that has changed since it was read stays as its days.
      and (candidate.first is not distinct from candidate.last
        or candidate.stamp = daily.stamp_of(candidate.metric, candidate.brand_id, candidate.first, candidate.last))
  ), replaced as (
    update daily.files set removed = next
    from chosen
    where files.added is not null and files.removed is null
      and files.metric = chosen.metric and files.brand_id = chosen.brand_id
      and ((files.first, files.last) is not distinct from (chosen.first, chosen.last)
        or (files.first < files.last and chosen.first = chosen.last and chosen.first between files.first and files.last))
  ), added as (
    update daily.files set added = next from chosen where files.set_id = chosen.set_id and files.rows > 0
  )
  insert into daily.versions (version, committed_at, through)
  select next, greatest(clock_timestamp(), last.committed_at + interval '1 millisecond'), cut
  where last.version is null or exists (select from chosen)
  returning version into committed;

  if committed is null then
    update daily.versions set through = cut where version = last.version;
  end if;
  -- Lost objects make what named them unreadable.
  delete from daily.files where stamp = '' and removed is not null;
  if found then delete from daily.versions where version < coalesce(committed, last.version); end if;
  -- The version that was current so many days ago stays.
  delete from daily.versions
  where version < (
    select max(version) from daily.versions where committed_at <= now() - keep_days * interval '1 day');
  return committed;
end
$function$;

-- Returns files whose objects can be deleted: removed before the oldest version, staged sets that a version passed over, and
-- what a publisher that was killed left over an hour ago. None of them can be committed afterwards.
create or replace function daily.expired_files(max_files integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock(hashtext('daily.publish'));
  update daily.files set stamp = null, staged_at = '-infinity'
  where added is null and staged_at > '-infinity' and case
    when stamp is null then staged_at < now() - interval '1 hour'
    when metric <> 'brands' then stamp <= (select through from daily.versions order by version desc limit 1)
    else exists (
      select from daily.files as later
      where later.metric = 'brands' and later.brand_id = files.brand_id
        and later.removed is null and later.stamp > files.stamp)
      or rows = 0 and not exists (
        select from daily.files as other
        where other.metric = 'brands' and other.brand_id = files.brand_id
          and other.removed is null and other.id <> files.id)
  end;
  return (
    select coalesce(json_agg(id), '[]')
    from (
      select id from daily.files where added is null and staged_at = '-infinity'
      union all
      select id from daily.files where removed < (select min(version) from daily.versions)
      limit max_files
    ) as expired);
end
$function$;

-- Forgets files whose objects are deleted.
create or replace function daily.forget_files(ids uuid[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $function$
  delete from daily.files
  where id = any (ids)
    and ((added is null and staged_at = '-infinity') or removed < (select min(version) from daily.versions))
$function$;

-- Marks the sets of lost or wrong objects, so that the next version replaces them.
create or replace function daily.mark_lost(ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp as $function$
  update daily.files set stamp = '', digest = ''
  where set_id in (select set_id from daily.files where id = any (ids));
  update daily.versions set through = '' where version = (select max(version) from daily.versions)
$function$;
