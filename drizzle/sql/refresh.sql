-- Replaces the oldest entry without a date or brand by one entry per day. Returns whether there was one. It runs
-- after the transaction that added the entry, so it sees what other transactions committed meanwhile. Days that
-- another refresh is computing are still in the queue, so they count too.
create or replace function daily.expand() returns boolean
language plpgsql set search_path = '' as $function$
declare
  entry daily.refresh_queue;
begin
  delete from daily.refresh_queue
  where id = (
    select id from daily.refresh_queue where date is null or brand_id is null order by id limit 1 for update skip locked)
  returning * into entry;
  if not found then
    return false;
  end if;

  if entry.model_id is not null or entry.market_id is not null then
    insert into daily.refresh_queue (metric, brand_id, date)
    select entry.metric, brand_id, date from daily.visibility
    where model_id = entry.model_id or market_id = entry.market_id
    union
    select metric, brand_id, date from daily.refresh_queue
    where metric = entry.metric and date is not null and brand_id is not null;
    return true;
  end if;

  if entry.date is not null then
    execute format(
      'insert into daily.refresh_queue (metric, brand_id, date)
       select distinct %1$L, brand_id, date from daily.%1$I where date = $1
       union
       select metric, brand_id, date from daily.refresh_queue
       where metric = %1$L and date = $1 and brand_id is not null',
      entry.metric)
    using entry.date;
    return true;
  end if;

  -- No window can ask for a day outside of the calendar, which an application's tables may hold.
  if (select bool_or(dated_by = 'recorded_at') from daily.sources where metric = entry.metric) then
    insert into daily.refresh_queue (metric, brand_id, date)
    select entry.metric, brand_id, date
    from (
      select distinct
        coalesce(entry.brand_id, prompts.brand_id) as brand_id, (citations.recorded_at at time zone 'UTC')::date as date
      from export_source.prompts
      join export_source.answers on answers.prompt_id = prompts.id
      join export_source.citations on citations.answer_id = answers.id
      where prompts.id = entry.prompt_id
        or entry.prompt_id is null and (prompts.brand_id = entry.brand_id or entry.brand_id is null)
    ) as day
    where date between '0001-01-01' and '9999-12-31';
  else
    insert into daily.refresh_queue (metric, brand_id, date)
    select entry.metric, brand_id, date
    from (
      select distinct
        coalesce(entry.brand_id, prompts.brand_id) as brand_id, (answers.answered_at at time zone 'UTC')::date as date
      from export_source.prompts
      join export_source.answers on answers.prompt_id = prompts.id
      where prompts.id = entry.prompt_id
        or entry.prompt_id is null and (prompts.brand_id = entry.brand_id or entry.brand_id is null)
    ) as day
    where date between '0001-01-01' and '9999-12-31';
  end if;

  -- Days whose last answer is gone are only in the stored rows.
  if entry.prompt_id is null then
    execute format(
      'insert into daily.refresh_queue (metric, brand_id, date)
       select distinct %1$L, brand_id, date from daily.%1$I where brand_id = $1 or $1 is null',
      entry.metric)
    using entry.brand_id;
  end if;
  return true;
end
$function$;

-- Makes the stored rows of one metric equal its view, for some brands and days, and writes only rows that differ.
-- The columns are the table's, the key is its primary key. The settings are for data in memory or on flash: with
-- Postgres's defaults the planner reads all citations of a large brand to find a day.
create or replace function daily.recompute(of_metric text, of_brands uuid[], first date, last date) returns void
language plpgsql
set search_path = '' set random_page_cost = 1.1 set jit = off set work_mem = '32MB'
as $function$
declare
  stored regclass := format('daily.%I', of_metric)::regclass;
  keys text;
  same_key text;
  cols text;
  sets text;
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
       select %2$s from metrics.%1$I where brand_id = any ($1) and date between $2 and $3
     ), stored as materialized (
       select %2$s from daily.%1$I where brand_id = any ($1) and date between $2 and $3
     ), deleted as (
       delete from daily.%1$I as existing
       using (select %3$s from stored except select %3$s from fresh) as removed
       where existing.brand_id = any ($1) and existing.date between $2 and $3 and %4$s
     )
     insert into daily.%1$I (%2$s)
     select %2$s from (select %2$s from fresh except select %2$s from stored) as differing
     order by %3$s
     on conflict (%3$s) do update set %5$s',
    of_metric, cols, keys, same_key, sets)
  using of_brands, first, last;
end
$function$;

-- One bounded step of the refresh: the newest day in the queue of one metric, with queued days shortly before it, for
-- some brands. Returns the number of entries it processed; 0 when the queue is empty or another refresh has locked the
-- remaining entries. Run it in a transaction of its own: readers see a day before it or after it. A day that cannot be
-- computed stays in the queue. It can hold back the days and brands of its step, but no other metric; its error is
-- raised when nothing else is left to do.
create or replace function daily.refresh(max_brands integer, max_days integer) returns integer
language plpgsql security definer set search_path = '' as $function$
declare
  busy text[] := '{}';
  newest date;
  oldest date;
  next_metric text;
  brands uuid[];
  processed integer;
  failure text;
begin
  loop
    select date, metric into newest, next_metric
    from daily.refresh_queue
    where brand_id is not null and metric <> all (busy)
      and (date, metric) < (coalesce(newest, 'infinity'), coalesce(next_metric, ''))
    order by date desc, metric desc
    limit 1;
    exit when not found;

    -- Two refreshes never compute the same metric at once: the later one must see the rows of the earlier one.
    if not pg_try_advisory_xact_lock(hashtext('daily.' || next_metric)) then
      busy := busy || next_metric;
      continue;
    end if;

    begin
      with locked as (
        select id, brand_id, date from daily.refresh_queue
        where metric = next_metric and date > newest - max_days and date <= newest and brand_id in (
          select distinct brand_id from daily.refresh_queue
          where date = newest and metric = next_metric and brand_id is not null limit max_brands)
        for update skip locked
      ), taken as (
        delete from daily.refresh_queue using locked where refresh_queue.id = locked.id
      )
      select array_agg(distinct brand_id), min(date), count(*) into brands, oldest, processed from locked;
      continue when processed = 0;

      -- A statement of its own, so a later snapshot: it sees every change whose entry was taken.
      perform daily.recompute(next_metric, brands, oldest, newest);
      return processed;
    exception
      -- The next run retries these.
      when lock_not_available or deadlock_detected or serialization_failure then
        raise;
      when others then
        failure := format('%s of %s: %s', next_metric, newest, sqlerrm);
    end;
  end loop;
  -- Entries without a date or brand come last: a large one never delays queued days.
  if daily.expand() then
    return 1;
  end if;
  if failure is not null then
    raise exception 'A day cannot be computed: %', failure;
  end if;
  return 0;
end
$function$;
