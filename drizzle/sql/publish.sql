-- How a publisher writes what the share must hold (docs/architecture.md, The share).

-- Takes the lease for two minutes. Each statement of its holder prolongs it. Returns JSON: its `number`, null while another
-- publisher holds it, who `holder` is and `until` when.
create or replace function daily.take_lease(of_holder text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock_shared(hashtext('daily.publish'));
  update daily.publisher set lease = lease + 1, holder = of_holder, held_until = clock_timestamp() + interval '2 minutes'
  -- A lease that ends later than it can is of a clock that was set back.
  where held_until not between clock_timestamp() and clock_timestamp() + interval '2 minutes';
  return (
    select json_build_object('number', case when found then lease end, 'holder', holder,
      'until', to_char(held_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
    from daily.publisher);
end
$function$;

-- Locks the lease for a statement and prolongs it; raises an error when another publisher has taken it. Migrations wait.
create or replace function daily.hold_lease(of_lease integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock_shared(hashtext('daily.publish'));
  update daily.publisher set held_until = clock_timestamp() + interval '2 minutes' where lease = of_lease;
  if not found then
    raise exception 'The lease has passed to %.', (select holder from daily.publisher);
  end if;
end
$function$;

-- Ends the lease of a publisher.
create or replace function daily.release_lease(of_lease integer) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $function$
  update daily.publisher set held_until = '-infinity' where lease = of_lease
$function$;

-- Returns a JSON array of the brands with changed days or a changed row of their own; with `periods` those whose thirds and
-- months are due. In no order: a brand that ends each run, whatever the reason, holds up no other for long.
create or replace function daily.due_brands(of_lease integer, periods boolean) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.hold_lease(of_lease);
  return (
    select coalesce(json_agg(brand_id order by random()), '[]')
    from daily.known_brands
    left join daily.published_brands as published using (brand_id)
    where case
      when periods then published.periods_due_at <= now()
      else digest is distinct from current_digest or published.brand_id is null or exists (
        select from daily.changes
        where changes.brand_id = known_brands.brand_id and changes.changed_at > coalesce(published.since, ''))
        -- What a killed publisher has staged is written or dropped.
        or exists (select from daily.staged_objects as staged where staged.brand_id = known_brands.brand_id)
    end);
end
$function$;

-- Reads due days of brands in one snapshot, about `max_rows` rows in `max_sets` sets, and stages their objects. Leaves sets that
-- do not fit into `max_bytes` to a later batch, except for a single one that is larger. Returns JSON:
--   columns   the columns of each table
--   objects   the objects to write: `id`, `metric`, `brand_id`, and `parts` of rows; null stands for a part of a set that is
--             larger, for daily.read_part
--   brands    the brands of which no other set is due, `since` the latest change of their days: once these objects are written,
--             current and staged objects equal the brand's rows at this moment
create or replace function daily.read_batch(
  of_lease integer, brands uuid[], max_sets integer, max_rows integer, max_bytes integer
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  batch text;
begin
  perform daily.hold_lease(of_lease);
  -- One statement, so one snapshot.
  with target as materialized (
    select listed.place, listed.brand_id, target.*
    from unnest(brands) with ordinality as listed (brand_id, place)
    cross join lateral daily.target_sets(listed.brand_id) as target
  ), ready as materialized (
    -- Written as a whole.
    select metric, brand_id, date, array_agg(id) as ids
    from target join daily.staged_objects as staged using (metric, brand_id, period, digest)
    where staged.first = date
    group by metric, brand_id, date, target.rows
    having sum(staged.rows) = target.rows
  ), due as materialized (
    select
      target.*, row_number() over in_order as number, sum(target.rows) over in_order - target.rows as rows_before
    from target
    left join ready using (metric, brand_id, date)
    left join lateral (
      select id, digest from daily.current_objects as objects
      where (objects.metric, objects.brand_id, objects.period, objects.first)
          = (target.metric, target.brand_id, target.period, target.date)
      limit 1
    ) as current on true
    where ready.ids is null and (target.rows > 0 or current.id is not null)
      and target.digest is distinct from current.digest
    window in_order as (order by place, date, metric)
  ), part as materialized (
    select
      number, coalesce(part, 0) as part, part.rows,
      coalesce(sum(octet_length(part.rows)) over (order by number, part), 0) <= max_bytes as fits
    from due left join lateral daily.read_rows(metric, brand_id, date, max_bytes) as part on true
    where number <= max_sets and (rows_before < max_rows or number = 1)
  ), taken as materialized (
    select * from due where number = 1 or number in (select number from part group by number having bool_and(fits))
  ), object as materialized (
    select
      gen_random_uuid() as id, number, part / 4 as object,
      json_agg(case when fits then rows::json end order by part) filter (where rows is not null) as parts
    from part where number in (select number from taken) group by number, part / 4
  ), dropped as (
    update daily.staged_objects set dropped_at = now()
    where brand_id = any (brands) and id not in (select unnest(ids) from ready)
  ), staged as (
    insert into daily.objects (id, metric, brand_id, period, first, last, digest, rows, bytes)
    select id, metric, brand_id, period, date, date, digest, nothing, nothing
    from object join taken using (number) cross join lateral (select case when parts is null then 0 end as nothing) as empty
  )
  select json_build_object(
    'columns', (select json_object_agg(metric, columns) from daily.shared_tables),
    'objects', (
      select coalesce(json_agg(json_build_object(
        'id', id, 'metric', metric, 'brand_id', brand_id, 'first_part', 4 * object, 'parts', parts)), '[]')
      from object join taken using (number) where parts is not null),
    'brands', (
      select coalesce(json_agg(json_build_object('brand_id', listed.brand_id, 'since',
        (select max(changed_at) from daily.changes where changes.brand_id = listed.brand_id))), '[]')
      from unnest(brands) with ordinality as listed (brand_id, place)
      where not exists (select from due where due.place = listed.place and number not in (select number from taken))))
  into batch;
  return batch;
end
$function$;

-- Stages thirds and months of brands that are due, up to `max_sets` sets of 1,000 objects: thirds and the latest days first, which
-- plans with a limit read. Returns JSON:
--   columns   the columns of each table
--   objects   the objects to write: `id`, `metric`, `brand_id`, number of `rows`, and `sources`, the objects of which each consists
--   brands    the brands of which no other is due, with the time when they are due again (`due_at`)
create or replace function daily.read_periods(of_lease integer, brands uuid[], max_sets integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  batch text;
begin
  perform daily.hold_lease(of_lease);
  with lacking as materialized (
    select * from daily.lacking_periods(brands)
  ), due as materialized (
    select
      gen_random_uuid() as id, row_number() over in_order as number,
      sum(json_array_length(sources)) over in_order as requests, lacking.*
    from lacking where due_at <= now()
    window in_order as (order by period desc, first desc, brand_id, metric)
  ), taken as materialized (
    select * from due where number <= max_sets and (requests <= 1000 or number = 1)
  ), dropped as (
    update daily.staged_objects set dropped_at = now() where brand_id = any (brands) and period in ('third', 'month')
  ), staged as (
    insert into daily.objects (id, metric, brand_id, period, first, last, digest)
    select id, metric, brand_id, period, first, last, digest from taken
  )
  select json_build_object(
    'columns', (select json_object_agg(metric, columns) from daily.shared_tables),
    'objects', (
      select coalesce(json_agg(json_build_object(
        'id', id, 'metric', metric, 'brand_id', brand_id, 'rows', rows, 'sources', sources)), '[]')
      from taken),
    'brands', (
      select coalesce(json_agg(json_build_object('brand_id', listed.brand_id, 'due_at', least(
        date_trunc('day', now(), 'UTC') + interval '1 day',
        (select min(due_at) from lacking where lacking.brand_id = listed.brand_id and due_at > now())))), '[]')
      from unnest(brands) as listed (brand_id)
      where not exists (
        select from due where due.brand_id = listed.brand_id and number not in (select number from taken))))
  into batch;
  return batch;
end
$function$;

-- Returns a part of the rows of a staged object; null when they have changed since it was staged.
create or replace function daily.read_part(of_lease integer, of_object uuid, of_part integer, max_bytes integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.hold_lease(of_lease);
  return (
    select part.rows
    from daily.staged_objects as staged
    cross join lateral daily.target_sets(staged.brand_id) as target
    cross join lateral daily.read_rows(staged.metric, staged.brand_id, staged.first, max_bytes) as part
    where staged.id = of_object and part.part = of_part
      and (target.metric, target.date, target.digest) = (staged.metric, staged.first, staged.digest));
end
$function$;

-- Records which objects of a batch are written, and commits as the next version what of it is whole: of daily.read_periods the
-- written thirds and months, of daily.read_batch all staged sets of the complete brands. A set replaces the current one. A
-- changed day also ends the third and the month that contain it. Returns the version; null for none, as before the first one.
create or replace function daily.commit_batch(of_lease integer, periods boolean, written json, brands json) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  new_version integer;
  changed boolean;
begin
  perform daily.hold_lease(of_lease);
  select version + 1 into new_version from daily.publisher;
  update daily.objects set rows = object.rows, bytes = object.bytes
  from json_to_recordset(written) as object (id uuid, rows integer, bytes integer)
  where objects.id = object.id;

  with complete as materialized (
    select * from json_to_recordset(brands) as brand (brand_id uuid, since text, due_at timestamptz)
    where not exists (select from daily.staged_objects as staged where staged.brand_id = brand.brand_id and bytes is null)
  ), committed as materialized (
    select * from daily.staged_objects
    where (period in ('third', 'month')) = periods
      and case when periods then id in (select id from json_to_recordset(written) as object (id uuid))
        else brand_id in (select brand_id from complete) end
  ), replaced as materialized (
    select distinct objects.id
    from committed join daily.current_objects as objects
      on objects.metric = committed.metric and objects.brand_id = committed.brand_id
      and objects.first between date_trunc('month', committed.first)::date and committed.first
      and (objects.period = committed.period and objects.first = committed.first
        or committed.period = 'day' and objects.period <> 'day' and objects.last >= committed.first)
  ), removed as (
    -- No version names what was added before the first one.
    update daily.objects set
      added = nullif(added, new_version),
      removed = case when added < new_version then new_version end,
      dropped_at = case when added = new_version then now() end
    from replaced where objects.id = replaced.id
  ), added as (
    update daily.objects set added = new_version from committed where objects.id = committed.id and committed.rows > 0
  ), emptied as (
    delete from daily.objects using committed where objects.id = committed.id and committed.rows = 0
  ), published as (
    insert into daily.published_brands as published (brand_id, since)
    select brand_id, since from complete where not periods
    on conflict (brand_id) do update set
      since = excluded.since,
      periods_due_at = case
        when excluded.brand_id in (select brand_id from committed where first < (now() at time zone 'UTC')::date) then now()
        else published.periods_due_at end
  ), compacted as (
    update daily.published_brands set periods_due_at = due_at
    from complete where published_brands.brand_id = complete.brand_id and periods
  )
  select exists (select from replaced) or exists (select from committed where rows > 0) into changed;

  return case when changed and exists (select from daily.versions) then daily.add_version() end;
end
$function$;

-- Adds the next version and returns it.
create or replace function daily.add_version() returns integer
language sql set search_path = pg_catalog, pg_temp as $function$
  update daily.publisher set version = version + 1;
  insert into daily.versions (version, committed_at)
  select publisher.version, greatest(clock_timestamp(), (select max(committed_at) from daily.versions) + interval '1 millisecond')
  from daily.publisher
  returning version
$function$;

-- Commits the first version, once a publisher has seen every brand. Returns it; null when there is a version.
create or replace function daily.commit_first(of_lease integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.hold_lease(of_lease);
  return case when not exists (select from daily.versions) then daily.add_version() end;
end
$function$;

-- Ends versions that were not the latest in the last days, and drops the objects that no version names any more. Forgets objects
-- that were `deleted`, and returns a JSON array of others to delete.
create or replace function daily.expire(of_lease integer, keep_days integer, deleted uuid[], max_objects integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.hold_lease(of_lease);
  delete from daily.objects where id = any (deleted);
  delete from daily.versions
  where version < (select max(version) from daily.versions where committed_at <= now() - keep_days * interval '1 day');
  update daily.objects set added = null, removed = null, dropped_at = now()
  where removed < (select min(version) from daily.versions);
  return (
    select coalesce(json_agg(id), '[]')
    from (select id from daily.objects where dropped_at <= now() - interval '2 days' limit max_objects) as dropped);
end
$function$;

insert into daily.publisher default values on conflict do nothing;
