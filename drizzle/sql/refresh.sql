-- Recomputes the days of daily.refresh_queue. Calls run side by side: each locks the brands whose days it computes, and
-- passes over brands that another call has locked.

-- Makes the stored rows of one metric equal its view, or the view's bounded form, for some brands and days. Writes only rows
-- that differ, and returns their days. With Postgres's default settings, the planner reads all citations of a large brand
-- to find a day.
create or replace function daily.recompute(of_metric text, of_brands uuid[], of_dates date[])
returns table (brand_id uuid, date date)
language plpgsql
set search_path = pg_catalog, pg_temp set random_page_cost = 1.1 set jit = off set work_mem = '32MB'
as $function$
declare
  stored regclass := format('daily.%I', of_metric)::regclass;
  view regclass := coalesce(
    to_regclass(format('metrics.%I', of_metric || '_bounded')), format('metrics.%I', of_metric)::regclass);
  keys text;
  cols text;
begin
  select
    string_agg(quote_ident(attname), ', ' order by attnum),
    string_agg(quote_ident(attname), ', ' order by attnum) filter (where attnum = any (indkey))
  into cols, keys
  from pg_catalog.pg_attribute join pg_catalog.pg_index on indrelid = attrelid and indisprimary
  where attrelid = stored and attnum > 0 and not attisdropped;

  -- EXCEPT leaves out equal rows, which the upsert would lock one by one; a join would depend on the planner's
  -- estimates. Rows are inserted in the order of the key, in which pages read them.
  return query execute format(
    'with fresh as materialized (
       select %2$s from %4$s where brand_id = any ($1) and date = any ($2)
     ), stored as materialized (
       select %2$s from daily.%1$I where brand_id = any ($1) and date = any ($2)
     ), deleted as (
       delete from daily.%1$I where brand_id = any ($1) and date = any ($2)
         and (%3$s) in (select %3$s from stored except select %3$s from fresh)
       returning brand_id, date
     ), written as (
       insert into daily.%1$I (%2$s)
       select %2$s from (select %2$s from fresh except select %2$s from stored) as differing
       order by %3$s
       on conflict (%3$s) do update set (%2$s) = row (excluded.*)
       returning brand_id, date
     )
     select brand_id, date from deleted union select brand_id, date from written',
    of_metric, cols, keys, view)
  using of_brands, of_dates;
end
$function$;

-- The same for one day, read by index lookups alone: a row of another day, for which a condition of a mapped view raises an
-- error, is not read.
create or replace function daily.recompute_alone(of_metric text, of_brands uuid[], of_dates date[])
returns table (brand_id uuid, date date)
language sql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $function$
  select * from daily.recompute(of_metric, of_brands, of_dates)
$function$;

-- Locks sources, so that no session alters or truncates them until the transaction ends. Never waits for a lock: an
-- application that locks several tables cannot get into a deadlock with it. Raises lock_not_available after `patience`.
create or replace function daily.lock_sources(of_sources text[], patience interval) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  deadline timestamptz := clock_timestamp() + patience;
  tables text := (select string_agg(format('export_source.%I', source), ', ') from unnest(of_sources) as source);
begin
  loop
    begin
      execute format('lock table %s in access share mode nowait', tables);
      return;
    exception when lock_not_available then
      if clock_timestamp() >= deadline then raise; end if;
    end;
    perform pg_sleep(0.05);
  end loop;
end
$function$;

-- The entries of the queue whose days can be computed now.
create or replace view daily.due as
  select * from daily.refresh_queue where coalesce(retry_at <= clock_timestamp(), true);

-- Locks and returns brands after `after` with days to compute, `alone` or not, or to list, in the order of their ids: at most
-- `count`.
-- Passes over brands that another call has locked.
create or replace function daily.lock_brands(after uuid, alone boolean, count bigint) returns uuid[]
language sql set search_path = pg_catalog, pg_temp as $function$
  select array(
    select queued.brand_id from daily.queued_brands as queued
    where (after is null or queued.brand_id > after)
      and (returned and not lock_brands.alone
        or exists (select from daily.due where due.brand_id = queued.brand_id and due.alone = lock_brands.alone))
    order by queued.brand_id limit count
    for update skip locked)
$function$;

-- Returns what to compute in a turn of some brands, one row per statement: of each brand and metric the `max_days` days
-- that have waited longest. Brands that wait for the same days share a statement, up to `max_days` days in all. Names the
-- sources here, because daily.sources takes longer than a small day.
create or replace function daily.plan_turn(of_brands uuid[], alone boolean, max_days integer)
returns table (metric text, sources text[], brands uuid[], dates date[], batch bigint, as_of timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with entry as (
    select *, row_number() over (partition by brand_id, metric order by as_of, date) as place
    from daily.due where brand_id = any (of_brands) and due.alone = plan_turn.alone
  ), brand_days as (
    select brand_id, metric, array_agg(date order by date) as dates, min(as_of) as as_of
    from entry where place <= max_days group by brand_id, metric
  ), numbered as (
    select *, (row_number() over (partition by metric, dates order by brand_id) - 1)
      / greatest(1, max_days / cardinality(dates)) as number
    from brand_days
  )
  select metric, read.sources, array_agg(brand_id order by brand_id) as brands, dates, progress.batch, progress.as_of
  from numbered
  join (select metric, array_agg(source) as sources from daily.sources group by metric) as read using (metric)
  cross join daily.progress
  group by metric, read.sources, dates, number, progress.batch, progress.as_of
  order by (array_agg(brand_id order by brand_id))[1], min(numbered.as_of), metric
$function$;

-- Computes a statement of plan_turn; if that fails, day by day (`alone`). Returns one object per attempt: metric, brands, dates, and
-- `changed`, the summaries of the days that changed, or `code` and `message` of the error that undid it. Summaries are
-- computed here, so that a value that cannot be added up, digested or written fails its day alone. When the statement is
-- canceled, no time is left to divide it: its days get statements of their own (`divided`).
create or replace function daily.attempt(
  metric text, sources text[], brands uuid[], dates date[], alone boolean default false
) returns setof jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  attempt jsonb := jsonb_build_object('metric', metric, 'brands', brands, 'dates', dates);
  changed_brands uuid[];
  changed_dates date[];
begin
  perform daily.lock_sources(sources, '2 s');
  if alone then
    select array_agg(day.brand_id), array_agg(day.date) into changed_brands, changed_dates
    from daily.recompute_alone(metric, brands, dates) as day;
  else
    select array_agg(day.brand_id), array_agg(day.date) into changed_brands, changed_dates
    from daily.recompute(metric, brands, dates) as day;
  end if;
  return next attempt || jsonb_build_object('changed', (
    select coalesce(jsonb_agg(summary), '[]') from daily.summaries(metric, changed_brands, changed_dates) as summary));
exception
  -- The next call retries these.
  when deadlock_detected or serialization_failure then
    raise;
  -- OTHERS catches neither of the first two. After a timeout, the rest of the call runs without one.
  when query_canceled or assert_failure or others then
    if sqlstate = '57014' and cardinality(brands) * cardinality(dates) > 1 then
      return next attempt || jsonb_build_object('divided', true);
    -- A timeout and a locked table say nothing about other days.
    elsif alone or sqlstate in ('57014', '55P03') then
      return next attempt || jsonb_build_object('code', sqlstate, 'message', left(sqlerrm, 1000));
    else
      return query
        select daily.attempt(metric, sources, array[brand_id], array[date], true)
        from unnest(brands) as brand_id, unnest(dates) as date;
    end if;
end
$function$;

-- The days of the attempts of a call, with what plan_turn said of their statement.
create or replace function daily.attempted(outcomes jsonb[])
returns table (
  metric text, brand_id uuid, date date, batch bigint, as_of timestamptz, code text, message text, divided boolean
)
language sql immutable set search_path = pg_catalog, pg_temp as $function$
  select metric, brand_id, date, batch, as_of, code, message, coalesce(divided, false)
  from unnest(outcomes) as outcome
  cross join jsonb_to_record(outcome) as computed (
    metric text, brands uuid[], dates date[], batch bigint, as_of timestamptz, code text, message text, divided boolean)
  cross join unnest(brands) as brand_id
  cross join unnest(dates) as date
$function$;

-- The days whose rows a call changed, with their summaries.
create or replace function daily.changed(outcomes jsonb[]) returns table (metric text, brand_id uuid, date date, summary jsonb)
language sql immutable set search_path = pg_catalog, pg_temp as $function$
  select day.*, summary
  from unnest(outcomes) as outcome
  cross join jsonb_array_elements(outcome -> 'changed') as summary
  cross join jsonb_to_record(summary) as day (metric text, brand_id uuid, date date)
$function$;

-- Returns how many days are to be listed of those of some brands that became readable.
create or replace function daily.days_to_list(of_brands uuid[]) returns table (brand_id uuid, days bigint)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select queued.brand_id, (select count(*) from daily.changes where changes.brand_id = queued.brand_id)
  from daily.queued_brands as queued where returned and queued.brand_id = any (of_brands)
$function$;

-- Ends a call: removes the computed days from the queue, records errors, and lists the days that changed, with their causes.
-- A day that a later batch named stays, since it may lack that change; one that was canceled alone is postponed even then.
-- Lists all days of those of `locked` that became readable. Locks days in the order of their key, as daily.resolve does, then
-- brands. Lists changes last (daily.list_changes).
create or replace function daily.finish(outcomes jsonb[], locked uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  taken daily.queued_causes[];
  brands uuid[];
begin
  perform from daily.refresh_queue as entry join daily.attempted(outcomes) using (brand_id, metric, date)
  order by entry.brand_id, entry.metric collate "C", entry.date for update of entry;

  merge into daily.refresh_queue as entry
  using daily.attempted(outcomes) as day
  on entry.brand_id = day.brand_id and entry.metric = day.metric and entry.date = day.date
  when matched and divided then update set alone = true
  when matched and code is null and entry.batch <= day.batch then delete
  when matched and code is null then update set as_of = day.as_of
  when matched and (entry.batch <= day.batch or code = '57014') then update set
    attempts = attempts + 1,
    retry_at = clock_timestamp() + least(interval '1 minute' * 2 ^ least(attempts, 6), interval '1 hour'),
    last_error = message,
    alone = entry.alone or code = '57014';

  update daily.queued_brands
  set as_of = coalesce(
    (select min(as_of) from daily.refresh_queue where refresh_queue.brand_id = queued_brands.brand_id), day.as_of)
  from (select brand_id, min(as_of) as as_of from daily.attempted(outcomes) group by brand_id) as day
  where queued_brands.brand_id = day.brand_id;

  with deleted as (
    delete from daily.queued_causes as queued using daily.attempted(outcomes) as day
    where queued.brand_id = day.brand_id and queued.metric = day.metric and queued.date = day.date
      and queued.batch <= day.batch and code is null and not divided
    returning queued.*
  )
  select array_agg(deleted) into taken from deleted;

  -- An earlier computation may have seen a change before a batch had it. The day then came out equal now.
  with late as (
    select endpoint, brand_id, date, jsonb_agg(distinct cause) as causes
    from unnest(taken) as cause join daily.row_schemas using (metric) join daily.changes using (endpoint, brand_id, date)
    where cause.batch <= changes.batch + 1 and causes ->> cause is distinct from changed_at
      and (metric, brand_id, date) not in (select metric, brand_id, date from daily.changed(outcomes))
    group by endpoint, brand_id, date
  )
  update daily.changes set causes = daily.add_causes(changes.causes, late.causes, changed_at)
  from late
  where (changes.endpoint, changes.brand_id, changes.date) = (late.endpoint, late.brand_id, late.date);

  perform daily.list_changes(jsonb_agg(summary || jsonb_build_object('causes', causes)))
  from (
    select summary, coalesce(jsonb_agg(distinct cause) filter (where cause is not null), '["recomputed"]') as causes
    from daily.changed(outcomes) left join unnest(taken) using (metric, brand_id, date)
    group by metric, brand_id, date, summary
  ) as day;

  -- Those with about 20,000 days, or one: a call that lists many more takes too long.
  with listed as (
    update daily.queued_brands set returned = false
    where brand_id in (
      select brand_id from (
        select brand_id, days, sum(days) over (order by brand_id) as so_far from daily.days_to_list(locked)
      ) as brand
      where so_far - days < 20000)
    returning brand_id
  )
  select array_agg(brand_id) into brands from listed;
  perform daily.list_brands(brands);
end
$function$;

-- Recomputes days of the queue for about as long as `duration`, of each brand once: those after `after`, in the order of
-- their ids. So no brand waits for another's backlog. After the last brand come days that are computed alone. Run it in a
-- transaction of its own: readers see a day before it or after it. Returns
--   brand_id   where the next call continues; null means at the first brand
--   processed  how many days were computed; null when others compute all brands that wait, or migrate or relist
--   done       whether no day can be computed now
--   failure    a day that could not be computed: its metric, brand_id, date, code and message
create or replace function daily.refresh(
  after uuid, duration interval, max_days integer,
  out brand_id uuid, out processed integer, out done boolean, out failure jsonb
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off
set extra_float_digits = 1 set bytea_output = hex set plan_cache_mode = force_custom_plan as $function$
declare
  deadline timestamptz := clock_timestamp() + duration;
  brands uuid[];
  alone boolean;
  statement record;
  outcomes jsonb[] := '{}';
  locked uuid[] := '{}';
  listing bigint := 0;
begin
  if current_setting('transaction_isolation') not like 'read %' then
    raise serialization_failure using message = 'Run daily.refresh in read committed';
  end if;
  done := false;
  if not pg_try_advisory_xact_lock_shared(hashtext('daily.refresh')) then return; end if;
  brand_id := after;
  <<turns>>
  loop
    -- An eighth of the waiting brands, so that calls that run side by side find some.
    brands := daily.lock_brands(brand_id, false, (
      select greatest(1, count(*) / 8) from (select from daily.queued_brands limit 8 * max_days) as waiting));
    alone := brands = '{}';
    if alone then
      brand_id := null;
      brands := daily.lock_brands(null, true, 1);
    end if;
    locked := locked || brands;
    for statement in select * from daily.plan_turn(brands, alone, case when alone then 1 else max_days end) loop
      outcomes := outcomes || array(
        select to_jsonb(statement) || outcome
        from daily.attempt(statement.metric, statement.sources, statement.brands, statement.dates) as outcome);
      if not alone then brand_id := statement.brands[1]; end if;
      exit turns when clock_timestamp() >= deadline;
    end loop;
    exit when alone;
    brand_id := brands[cardinality(brands)];
    listing := listing + (select coalesce(sum(days), 0) from daily.days_to_list(brands));
    exit when clock_timestamp() >= deadline or listing >= 20000;
  end loop;

  if locked <> '{}' then
    select count(*) filter (where code is null and not divided), (array_agg(to_jsonb(day)) filter (where code is not null))[1]
    into processed, failure from daily.attempted(outcomes) as day;
    perform daily.finish(outcomes, locked);
  else
    done := after is null and not exists (
      select from daily.queued_brands as queued
      where returned or exists (select from daily.due where due.brand_id = queued.brand_id));
    if done or after is not null then processed := 0; end if;
  end if;
end
$function$;
