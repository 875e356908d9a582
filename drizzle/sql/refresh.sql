-- Returns the brands that have stored rows of a metric, with one index probe each.
create or replace function daily.brands_of(of_metric text) returns setof uuid
language plpgsql stable set search_path = '' as $function$
begin
  return query execute format(
    'with recursive stored (brand_id) as (
       (select brand_id from daily.%1$I order by brand_id limit 1)
       union all
       select (select brand_id from daily.%1$I where brand_id > stored.brand_id order by brand_id limit 1)
       from stored where stored.brand_id is not null
     )
     select brand_id from stored where brand_id is not null',
    of_metric);
end
$function$;

-- Replaces entries of all brands by entries of each brand that can have such rows.
create or replace function daily.expand_brands() returns void
language plpgsql set search_path = '' as $function$
declare
  entries daily.refresh_queue[];
  of_metric text;
begin
  with taken as (
    delete from daily.refresh_queue where brand_id is null returning *
  )
  select array_agg(taken) into entries from taken;

  for of_metric in select metric from unnest(entries) intersect select metric from daily.sources loop
    execute format(
      'with known as (
         select brand_id from daily.brands_of(%1$L) as brand_id
         union
         select brand_id from export_source.prompts
       )
       insert into daily.refresh_queue (metric, brand_id, date, model_id, market_id, added_at)
       select %1$L, known.brand_id, entry.date, entry.model_id, entry.market_id, min(entry.added_at)
       from known join unnest($1) as entry on entry.date is null or exists (
         select from daily.%1$I where %1$I.brand_id = known.brand_id and %1$I.date = entry.date)
       where entry.metric = %1$L
       group by known.brand_id, entry.date, entry.model_id, entry.market_id',
      of_metric)
    using entries;
  end loop;
end
$function$;

-- Replaces the entries of a brand without a date by one entry per day. It runs after the transactions that added them,
-- so it sees what other transactions committed meanwhile.
create or replace function daily.expand(of_brand uuid) returns void
language plpgsql set search_path = '' as $function$
declare
  entries record;
begin
  for entries in
    with taken as (
      delete from daily.refresh_queue where brand_id = of_brand and date is null returning *
    )
    select
      metric,
      metric in (select sources.metric from daily.sources where dated_by = 'recorded_at') as recorded,
      bool_or(num_nonnulls(prompt_id, model_id, market_id) = 0) as whole,
      array_agg(prompt_id) as prompts,
      array_agg(model_id) as models,
      array_agg(market_id) as markets,
      min(added_at) as added_at
    from taken
    where metric in (select sources.metric from daily.sources)
    group by metric
  loop
    -- Days whose last answer is gone are only in the stored rows. No window can ask for a day outside of the calendar,
    -- which an application's tables may hold.
    execute format(
      $insert$
      insert into daily.refresh_queue (metric, brand_id, date, added_at)
      select %1$L, $1, date, $7
      from (
        select (answers.answered_at at time zone 'UTC')::date as date
        from export_source.prompts
        join export_source.answers on answers.prompt_id = prompts.id
        where not $2 and (prompts.id = any ($4) or $3 and prompts.brand_id = $1)
        union
        select (citations.recorded_at at time zone 'UTC')::date
        from export_source.prompts
        join export_source.answers on answers.prompt_id = prompts.id
        join export_source.citations on citations.answer_id = answers.id
        where $2 and (prompts.id = any ($4) or $3 and prompts.brand_id = $1)
        union
        select date from daily.%1$I where $3 and brand_id = $1
        union
        select date from daily.visibility where brand_id = $1 and (model_id = any ($5) or market_id = any ($6))
      ) as day
      where date between '0001-01-01' and '9999-12-31'
      $insert$,
      entries.metric)
    using
      of_brand, entries.recorded, entries.whole, entries.prompts, entries.models, entries.markets, entries.added_at;
  end loop;
end
$function$;

-- Makes the stored rows of one metric equal its view, for some brands and days. Writes only rows that differ, and lists
-- their days as changed.
-- The columns are the table's, the key is its primary key. The settings are for data in memory or on flash: with
-- Postgres's defaults the planner reads all citations of a large brand to find a day.
create or replace function daily.recompute(of_metric text, of_brands uuid[], of_dates date[]) returns void
language plpgsql
set search_path = '' set random_page_cost = 1.1 set jit = off set work_mem = '32MB'
as $function$
declare
  stored regclass := format('daily.%I', of_metric)::regclass;
  keys text;
  same_key text;
  cols text;
  sets text;
  changed_brands uuid[];
  changed_dates date[];
begin
  select
    string_agg(quote_ident(attname), ', ' order by attnum),
    string_agg(format('%1$I = excluded.%1$I', attname), ', ' order by attnum)
  into cols, sets
  from pg_catalog.pg_attribute
  where attrelid = stored and attnum > 0 and not attisdropped;

  select
    string_agg(quote_ident(attname), ', ' order by attnum),
    string_agg(format('removed.%1$I = existing.%1$I', attname), ' and ')
  into keys, same_key
  from pg_catalog.pg_index
  join pg_catalog.pg_attribute on attrelid = indrelid and attnum = any (indkey)
  where indrelid = stored and indisprimary;

  -- EXCEPT leaves out equal rows, which the upsert would lock one by one; a join would depend on the planner's
  -- estimates. Rows are inserted in the order of the key, in which pages read them.
  execute format(
    'with fresh as materialized (
       select %2$s from metrics.%1$I where brand_id = any ($1) and date = any ($2)
     ), stored as materialized (
       select %2$s from daily.%1$I where brand_id = any ($1) and date = any ($2)
     ), deleted as (
       delete from daily.%1$I as existing
       using (select %3$s from stored except select %3$s from fresh) as removed
       where existing.brand_id = any ($1) and existing.date = any ($2) and %4$s
       returning existing.brand_id, existing.date
     ), written as (
       insert into daily.%1$I (%2$s)
       select %2$s from (select %2$s from fresh except select %2$s from stored) as differing
       order by %3$s
       on conflict (%3$s) do update set %5$s
       returning brand_id, date
     )
     select array_agg(brand_id), array_agg(date)
     from (select brand_id, date from deleted union select brand_id, date from written) as changed',
    of_metric, cols, keys, same_key, sets)
  into changed_brands, changed_dates
  using of_brands, of_dates;
  if changed_dates is not null then
    perform daily.list_changes(of_metric, changed_brands, changed_dates);
  end if;
end
$function$;

-- Takes the entries of some days of one metric from the queue and recomputes the days; if that fails, day by day.
-- Returns the number of entries it processed, and the last failure: its metric, brand_id, date, code and message. The
-- entries of a day that cannot be computed stay in the queue.
create or replace function daily.process(
  of_metric text, of_brands uuid[], of_dates date[], out processed integer, out failure jsonb
)
language plpgsql set search_path = '' as $function$
declare
  day record;
  attempt record;
begin
  delete from daily.refresh_queue
  where brand_id = any (of_brands) and metric = of_metric and date = any (of_dates);
  get diagnostics processed = row_count;
  -- A statement of its own, so a later snapshot: it sees every change whose entry was taken.
  perform daily.recompute(of_metric, of_brands, of_dates);
exception
  -- The next run retries these.
  when lock_not_available or deadlock_detected or serialization_failure then
    raise;
  when others then
    processed := 0;
    if cardinality(of_brands) = 1 and cardinality(of_dates) = 1 then
      failure := jsonb_build_object(
        'metric', of_metric, 'brand_id', of_brands[1], 'date', of_dates[1], 'code', sqlstate, 'message', sqlerrm);
      update daily.refresh_queue set failed_at = clock_timestamp()
      where brand_id = of_brands[1] and metric = of_metric and date = of_dates[1];
      return;
    end if;
    for day in select brand_id, date from unnest(of_brands) as brand_id cross join unnest(of_dates) as date loop
      select * into attempt from daily.process(of_metric, array[day.brand_id], array[day.date]);
      processed := processed + attempt.processed;
      failure := coalesce(attempt.failure, failure);
    end loop;
end
$function$;

-- Gives a brand its turn: for each metric, recomputes the `max_days` days that have waited longest, until `deadline`.
-- Brands that wait for the same days are computed with it, up to `max_days` days in all. A day that failed before
-- `since` is computed alone, and one that failed later not at all.
create or replace function daily.serve(
  of_brand uuid, since timestamptz, deadline timestamptz, max_days integer, out processed integer, out failure jsonb
)
language plpgsql set search_path = '' as $function$
declare
  batch record;
  attempt record;
begin
  processed := 0;
  perform daily.expand(of_brand);
  for batch in
    with waiting as (
      select metric, date, min(added_at) as added_at, bool_or(failed_at is not null) as failed
      from daily.refresh_queue
      where brand_id = of_brand
      group by metric, date
      having bool_or(coalesce(failed_at < since, true))
    ), ranked as (
      select *, row_number() over (partition by metric, failed order by added_at, date) as place from waiting
    ), due as (
      select metric, failed, array_agg(date order by date) as dates, min(added_at) as added_at
      from ranked
      where place <= case when failed then 1 else max_days end
      group by metric, failed
    ), following as (
      select brand_id, metric, date from daily.refresh_queue
      where brand_id > of_brand and failed_at is null
      order by brand_id limit 5000
    ), peers as (
      select brand_id, metric, array_agg(distinct date order by date) as dates from following group by brand_id, metric
    )
    select metric, dates, array[of_brand] || array(
      select peers.brand_id from peers
      where not due.failed and peers.metric = due.metric and peers.dates = due.dates
      limit max_days / cardinality(due.dates) - 1) as brands
    from due
    order by added_at
  loop
    select * into attempt from daily.process(batch.metric, batch.brands, batch.dates);
    processed := processed + attempt.processed;
    failure := coalesce(attempt.failure, failure);
    exit when clock_timestamp() >= deadline;
  end loop;
end
$function$;

-- Recomputes the days in the queue until none is left or `budget` is over. Serves the brands in turn, from the first one
-- after `after`, so that none waits for another's backlog. A day that failed after `since`, the start of the run, is not
-- tried again. Run it in a transaction of its own: readers see a day before it or after it. Plans are not kept: one for
-- an empty queue would read all of a long one. Returns
--   brand_id   the brand that was served last, for the next call
--   processed  the number of entries that were processed; null when another refresh is running
--   done       whether no day is left, or only days that failed
--   failure    the last failure of daily.process
--   oldest_s   the age of the oldest entry that is left, in seconds
create or replace function daily.refresh(
  after uuid, since timestamptz, budget interval, max_days integer,
  out brand_id uuid, out processed integer, out done boolean, out failure jsonb, out oldest_s double precision
)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_custom_plan as $function$
declare
  deadline timestamptz := clock_timestamp() + budget;
  following uuid;
  turn record;
begin
  brand_id := after;
  done := false;
  -- Side by side, the stored rows could end as the refresh with the older snapshot has them.
  if pg_try_advisory_xact_lock(hashtext('daily.refresh')) then
    processed := 0;
    perform daily.expand_brands();
    loop
      select queue.brand_id into following
      from daily.refresh_queue as queue
      where queue.brand_id > refresh.brand_id and coalesce(failed_at < since, true)
      order by queue.brand_id limit 1;
      if following is null then
        select queue.brand_id into following
        from daily.refresh_queue as queue
        where queue.brand_id is not null and coalesce(failed_at < since, true)
        order by queue.brand_id limit 1;
      end if;
      done := following is null;
      exit when done;
      brand_id := following;
      select * into turn from daily.serve(following, since, deadline, max_days);
      processed := processed + turn.processed;
      failure := coalesce(turn.failure, failure);
      exit when clock_timestamp() >= deadline;
    end loop;
  end if;
  oldest_s := (select extract(epoch from clock_timestamp() - min(added_at)) from daily.refresh_queue);
end
$function$;

-- One turn, for Workers of the previous release, which end their run at 0.
create or replace function daily.refresh(max_brands integer, max_days integer) returns integer
language sql security definer set search_path = '' as $function$
  select case when done or processed is null then 0 else greatest(processed, 1) end
  from daily.refresh(gen_random_uuid(), now() - interval '1 minute', interval '0', max_days)
$function$;
