-- daily.files, daily.versions and daily.published_brands: what the share holds of each table (docs/architecture.md, The
-- share).

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
    jsonb_build_array(jsonb_build_object('name', 'brand_id', 'type', 'string')) || columns.columns as columns,
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
         order by %1$s offset $4 limit $5 / 50 + 2
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
  select max(day.changed_at)
  from daily.row_schemas
  cross join generate_series(0, last - first) as days
  cross join lateral (
    select changed_at from daily.changes
    where changes.endpoint = row_schemas.endpoint and changes.date = first + days and changes.brand_id = of_brand offset 0
  ) as day
  where metric = of_metric
$function$;

-- The brands' own rows as the share has them, each with its digest.
create or replace view daily.own_rows as
  select
    id as brand_id,
    to_jsonb(brands) - '{organization_id,active}'::text[] as fields,
    md5((to_jsonb(brands) - '{organization_id,active}'::text[])::text) as digest
  from metrics.brands;

-- Lists each brand of daily.changes, by one index search each.
create or replace function daily.changed_brands() returns table (brand_id uuid)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with recursive known as (
    (select changes.brand_id from daily.changes order by changes.brand_id limit 1)
    union all
    select (select changes.brand_id from daily.changes where changes.brand_id > known.brand_id order by changes.brand_id limit 1)
    from known where known.brand_id is not null
  )
  select known.brand_id from known where known.brand_id is not null
$function$;

-- Lists the brands that may have unpublished rows, those first that are published the least far, from the place after
-- another: how far they are published, what a commit compares (`base`), the digest of the brand's own row and of the current
-- file that holds it. A digest is null for a brand that is gone, and of fields that the share has.
create or replace function daily.unpublished_brands(after text)
returns table (brand_id uuid, place text, through text, base text, digest text, current_digest text)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with own as materialized (
    select own_rows.brand_id, own_rows.digest from daily.own_rows
  ), current as materialized (
    select files.brand_id, files.digest from daily.files
    where metric = 'brands' and added is not null and removed is null
  ), known as (
    select changed_brands.brand_id from daily.changed_brands()
    union select own.brand_id from own
    union select current.brand_id from current
  )
  select
    known.brand_id, position.place, position.through, coalesce(published.xmin::text, ''), own.digest, current.digest
  from known
  left join daily.published_brands as published on published.brand_id = known.brand_id
  cross join lateral (
    select
      coalesce(published.through, '') as through,
      concat_ws(' ', coalesce(published.through, ''), known.brand_id) collate "C" as place
  ) as position
  left join own on own.brand_id = known.brand_id
  left join current on current.brand_id = known.brand_id
  where position.place > after and (own.digest is distinct from current.digest or exists (
    select from daily.changes where changes.brand_id = known.brand_id and changes.changed_at > position.through))
  order by position.place
$function$;

-- Lists the sets that a brand lacks: its days that changed after `since` and that no set of the current version and no
-- staged set holds, and if `own`, its own row. `stamp` is what their sets get. A day that has emptied and a brand
-- that is gone get sets without rows, so that no set of an earlier reading takes their place.
create or replace function daily.unpublished(brand uuid, since text, own boolean, own_digest text)
returns table (metric text, brand_id uuid, date date, stamp text, digest text)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  (
    select row_schemas.metric, brand, changes.date, changes.changed_at, null::text
    from daily.changes join daily.row_schemas using (endpoint)
    where changes.brand_id = brand and changes.changed_at > since and not exists (
      select from daily.files
      where files.metric = row_schemas.metric and files.brand_id = brand
        and files.first = changes.date and files.last = changes.date
        and files.removed is null and files.stamp = changes.changed_at)
    order by changes.changed_at, changes.endpoint, changes.date
  )
  union all
  select
    'brands', brand, null, to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), own_digest
  where own
$function$;

-- Reads the rows of unpublished sets, up to `max_sets` and `max_bytes`, of the brands from the place after another, in one
-- snapshot. Returns JSON:
--   columns   the columns of each table
--   is_empty  whether there is no version yet
--   sets      for each its metric, brand_id, date, stamp and digest, and its rows; `more` when they do not fit: then none
--   brands    the brands of which no other set is unpublished, for daily.commit_version: once these sets are staged, the
--             staged sets equal the brand's rows at this moment, of which `cut` is the greatest changed_at. `own` is the
--             staged set of the brand's own row, if that has changed and is staged already.
--   after     the place of the last of these brands
--   more      whether other sets are unpublished
create or replace function daily.read_unpublished(after text, max_sets integer, max_bytes integer) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $function$
declare
  brand record;
  changed record;
  part record;
  own uuid;
  sets text[] := '{}';
  brands json[] := '{}';
  bytes bigint := 0;
  compared integer := 0;
  cut text := daily.cut();
  more boolean := false;
begin
  <<listing>>
  for brand in select * from daily.unpublished_brands(after) loop
    -- To compare every day of many brands takes longer than a statement may.
    compared := compared + (brand.through = '')::int;
    more := compared > 50;
    exit when more;
    own := (
      select set_id from daily.files
      where metric = 'brands' and files.brand_id = brand.brand_id and added is null and stamp > ''
        and files.digest is not distinct from brand.digest
      limit 1);
    for changed in
      select * from daily.unpublished(
        brand.brand_id, brand.through, own is null and brand.digest is distinct from brand.current_digest, brand.digest)
    loop
      more := cardinality(sets) = max_sets;
      exit listing when more;
      part := daily.read_rows(changed.metric, changed.brand_id, changed.date, changed.date, 0, max_bytes);
      if part.more then part.rows := '[]'; end if;
      bytes := bytes + octet_length(part.rows);
      more := bytes > max_bytes and sets <> '{}';
      exit listing when more;
      sets := sets || format('{"set":%s,"rows":%s,"more":%s}', to_json(changed), part.rows, to_json(part.more));
    end loop;
    brands := brands || json_build_object('brand_id', brand.brand_id, 'base', brand.base, 'cut', cut, 'own', own);
    after := brand.place;
  end loop;
  return format('{"columns":%s,"is_empty":%s,"after":%s,"more":%s,"brands":%s,"sets":[%s]}',
    (select json_object_agg(metric, columns) from daily.shared_tables),
    to_json(not exists (select from daily.versions)),
    to_json(after), to_json(more), to_json(brands), array_to_string(sets, ','));
end
$function$;

-- The stamp of the latest change; empty when there is none.
create or replace function daily.cut() returns text
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select coalesce(max(to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')), '') from daily.changes_clock
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

-- Lists up to 1,000 calendar months to write as one set: those before the days that any limited plan reads, `lookback` days
-- before today, whose days have several files. A version that replaces a day removes the set of its month. Nested loops look
-- up months one by one: Postgres would read all days of a brand instead.
create or replace function daily.uncompacted(lookback integer) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set jit = off as $function$
  select coalesce(json_agg(missing), '[]')::text
  from (
    select missing.*
    from daily.changed_brands()
    cross join daily.row_schemas
    cross join lateral (
      select first from daily.files
      where files.metric = row_schemas.metric and files.brand_id = changed_brands.brand_id and removed is null
      order by first limit 1
    ) as oldest
    cross join lateral (
      select metric, brand_id, start::date as first, month_end.last
      from generate_series(
        date_trunc('month', oldest.first::timestamp),
        date_trunc('month', (now() at time zone 'UTC')::date - lookback - interval '1 month'),
        interval '1 month') as start
      cross join lateral (select (start + interval '1 month - 1 day')::date as last) as month_end
      where not exists (
        select from daily.files
        where files.metric = row_schemas.metric and files.brand_id = changed_brands.brand_id
          and files.first = start::date and files.last = month_end.last and added is not null and removed is null)
      offset 0
    ) as missing
    where 1 < (
      select count(*)
      from (
        select distinct first from daily.files
        where files.metric = missing.metric and files.brand_id = missing.brand_id
          and files.first between missing.first and missing.last and files.first = files.last
          and added is not null and removed is null
        limit 2
      ) as day)
    limit 1000
  ) as missing
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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  completed integer;
begin
  update daily.files set rows = file.rows, bytes = file.bytes, stamp = file.stamp, digest = file.digest
  from json_to_recordset(written) as file (id uuid, rows integer, bytes integer, stamp text, digest text)
  where files.id = file.id and files.added is null and files.staged_at > '-infinity';
  get diagnostics completed = row_count;
  if completed < json_array_length(written) then
    raise exception 'Staged files were swept, since they were not complete within a day. Publish again.';
  end if;
end
$function$;

-- Commits a version. Its files of each of the given brands equal the brand's rows at the moment of its `cut`
-- (daily.read_unpublished): of each day the latest staged set up to the cut, and its own row of the staged set `own`. Days that
-- changed after the cut belong to the next version. Passes over a brand that another publisher has committed meanwhile, or
-- whose objects were lost; the first version has all brands or is not committed. Returns the version; null for none.
create or replace function daily.commit_version(brands json, keep_days integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  current daily.versions;
  next integer;
  committed integer;
  lost integer;
  had_lost boolean;
begin
  perform pg_advisory_xact_lock(hashtext('daily.publish'));
  select * into current from daily.versions order by version desc limit 1;
  -- The minutes since 1970, so that a restored backup repeats no number.
  next := greatest(current.version + 1, (extract(epoch from clock_timestamp()) / 60)::int);

  select coalesce(json_agg(given), '[]'), coalesce(bool_or(through = ''), false) into brands, had_lost
  from (
    select given.*, published.through
    from json_to_recordset(brands) as given (brand_id uuid, base text, cut text, own uuid)
    left join daily.published_brands as published using (brand_id)
    where given.base = coalesce(published.xmin::text, '') and (given.own is null or exists (
      select from daily.files where set_id = given.own and added is null and stamp is not null))
  ) as given
  having current.version is not null or count(*) = json_array_length(brands);
  if brands is null then return null; end if;

  with accepted as materialized (
    select * from json_to_recordset(brands) as accepted (brand_id uuid, through text, cut text, own uuid)
  ), candidate as (
    select distinct on (metric, brand_id, first, last) files.*
    from daily.files
    left join accepted using (brand_id)
    left join daily.published_brands as published using (brand_id)
    where files.added is null and files.stamp > '' and case
      when metric = 'brands' then set_id = accepted.own
      when first = last then stamp > coalesce(accepted.through, '') and stamp <= accepted.cut
      -- A month that has changed since it was read stays as its days.
      else stamp <= coalesce(accepted.cut, published.through) and stamp = daily.stamp_of(metric, brand_id, first, last)
    end
    order by metric, brand_id, first, last, stamp desc, set_id
  ), chosen as materialized (
    select candidate.set_id, candidate.metric, candidate.brand_id, candidate.first, candidate.last, replaced.ids
    from candidate
    cross join lateral (
      select array_agg(id) as ids, max(stamp) as stamp
      from (
        select id, stamp from daily.files
        where files.metric = candidate.metric and files.brand_id = candidate.brand_id
          and files.first = candidate.first and files.last = candidate.last and added is not null and removed is null
        union all
        select id, stamp from daily.files
        where candidate.first is null and files.metric = candidate.metric and files.brand_id = candidate.brand_id
          and added is not null and removed is null
      ) as file
    ) as replaced
    where (candidate.rows > 0 or replaced.ids is not null)
      and (candidate.first is null or candidate.stamp > coalesce(replaced.stamp, ''))
  ), removed as (
    update daily.files set removed = next
    where id in (
      select unnest(ids) from chosen
      union all
      select files.id
      from chosen join daily.files on files.metric = chosen.metric and files.brand_id = chosen.brand_id
        and files.first = date_trunc('month', chosen.first)::date
      where chosen.first = chosen.last and files.first < files.last and files.added is not null and files.removed is null)
  ), added as (
    update daily.files set added = next from chosen where files.set_id = chosen.set_id and files.rows > 0
  ), published as (
    insert into daily.published_brands (brand_id, through)
    select brand_id, cut from accepted
    on conflict (brand_id) do update set through = excluded.through
  )
  insert into daily.versions (version, committed_at)
  select next, greatest(clock_timestamp(), current.committed_at + interval '1 millisecond')
  where current.version is null or exists (select from chosen)
  returning version into committed;

  if had_lost then
    -- No version may name lost objects, nor the changes that remove them: a reader of these changes starts again.
    select max(removed) into lost from daily.files where stamp = '' and removed is not null;
    update daily.versions set version = version + 1
    where version = lost and version = coalesce(committed, current.version)
    returning version into next;
    if found then committed := next; end if;
    delete from daily.versions where version <= lost;
  end if;
  -- The version that was current so many days ago stays.
  delete from daily.versions
  where version < (
    select max(version) from daily.versions where committed_at <= now() - keep_days * interval '1 day');
  return committed;
end
$function$;

-- Returns files whose objects can be deleted: removed before the oldest version, staged sets that a version passed over, and
-- what a publisher left a day ago. None of them can be committed afterwards.
create or replace function daily.expired_files(max_files integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock(hashtext('daily.publish'));
  update daily.files set stamp = null, staged_at = '-infinity'
  where set_id in (
    select set_id from daily.files left join daily.published_brands using (brand_id)
    where added is null and staged_at > '-infinity' and case
      when first = last and stamp is not null then stamp <= through
      else staged_at < now() - interval '1 day'
    end);
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

-- Marks the sets of lost or wrong objects, so that the next version replaces them. A month falls back to its days.
create or replace function daily.mark_lost(ids uuid[]) returns void
language sql set search_path = pg_catalog, pg_temp as $function$
  select pg_advisory_xact_lock(hashtext('daily.publish'));
  update daily.published_brands set through = ''
  where brand_id in (select brand_id from daily.files where id = any (ids));
  update daily.files set added = null, removed = null, stamp = null, staged_at = '-infinity'
  where set_id in (select set_id from daily.files where id = any (ids)) and (added is null or first < last);
  update daily.files set stamp = '', digest = ''
  where set_id in (select set_id from daily.files where id = any (ids)) and added is not null;
$function$;
