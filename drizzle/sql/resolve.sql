-- Which days of which brands a change affects. Triggers (triggers.sql) append the keys of changed rows to daily.change_log.
-- daily.resolve empties it and adds the affected days to daily.refresh_queue.
insert into daily.progress default values on conflict do nothing;

-- Takes all entries of the log and adds the days that they affect to the queue. Returns how many days it added; unless
-- `wait`, null while another call is running. Never limit the batch, and never run it in a transaction with an old
-- snapshot (docs/architecture.md, Why no change is missed).
--
-- Postgres knows nothing about the size of a log. OFFSET 0 makes it look up rows one by one; without nested loops, it joins
-- the entries of the log by hashing. A custom plan avoids a plan of an empty log.
create or replace function daily.resolve(wait boolean default true) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set row_security = off
set extra_float_digits = 1 set bytea_output = hex set plan_cache_mode = force_custom_plan set enable_nestloop = off set jit = off set random_page_cost = 1.1 set work_mem = '64MB'
as $function$
declare
  started timestamptz;
  previous daily.progress;
  added integer;
  sources text[] := array['answers', 'citations', 'prompts'];
  has_brands boolean := exists (select from daily.brand_log);
begin
  if current_setting('transaction_isolation') not like 'read %' then
    raise serialization_failure using message = 'Run daily.resolve in read committed';
  end if;
  if wait then
    perform pg_advisory_xact_lock(hashtext('daily.resolve'));
  elsif not pg_try_advisory_xact_lock(hashtext('daily.resolve')) then
    return null;
  end if;
  -- An application may hold a lock on a table for long, for example to truncate it.
  if has_brands then sources := sources || text 'brands'; end if;
  perform daily.lock_sources(sources, '5 s');
  -- Without triggers, the log is complete as of the last pass only.
  select * into previous from daily.progress;
  started := least((select greatest(started_at, previous.as_of) from daily.rolling_window), clock_timestamp());
  -- The clock was set back, and later times say nothing about its own. Waits for the calls of daily.refresh that compute
  -- these brands; then none of them has locked their days.
  if previous.as_of > started then
    update daily.queued_brands set as_of = started where as_of > started;
    update daily.refresh_queue set as_of = started where as_of > started;
    previous.as_of := started;
  end if;

  -- The brands that keys read now and did not before: daily.finish lists their days. Where no trigger tracks the brands, a
  -- stored set tells. Waits for the calls that compute these brands; then none of them has locked their days.
  if has_brands then
    with logged as materialized (delete from daily.brand_log returning brand_id),
    brand as materialized (
      select distinct on (id) id, organization_id, id in (select brand_id from logged) as is_logged
      from export_source.brands
      where active and id is not null and organization_id is not null
        and (id in (select brand_id from logged) or exists (select from logged where brand_id is null))
    ), gone as (
      delete from daily.readable_brands as known
      where not exists (select from brand where id = known.brand_id)
        and (brand_id in (select brand_id from logged) or exists (select from logged where brand_id is null))
    ), returned as (
      insert into daily.readable_brands as known (brand_id, organization_id)
      select id, organization_id from brand
      where is_logged or (id, organization_id) not in (select brand_id, organization_id from daily.readable_brands)
      on conflict (brand_id) do update set organization_id = excluded.organization_id
      returning brand_id
    )
    insert into daily.queued_brands (brand_id, as_of, returned)
    select brand_id, previous.as_of, true from returned
    -- A brand without days has nothing to list.
    where (select date from daily.changes where changes.brand_id = returned.brand_id limit 1) is not null
    order by brand_id
    on conflict (brand_id) do update set returned = true;
  end if;

  with taken as (delete from daily.change_log returning *),
  batch as materialized (
    select *, case
        when num_nonnulls(brand_id, prompt_id, answer_id, model_id, market_id) = 0 then 'recomputed'
        when source = 'answer_mentions' then 'mentions'
        when source = 'sentiment_phrases' then 'sentiment'
        else source end as cause
    from taken
  ),
  metric_sources as materialized (select * from daily.sources),
  sources_by_recording as materialized (select distinct source from metric_sources where dated_by = 'recorded_at'),
  -- Entries without ids are for all days from `first` on, of all brands.
  entries_for_all as materialized (
    select source, cause, min(coalesce(day, '-infinity')) as first
    from batch where cause = 'recomputed' group by source, cause
  ),

  -- Down from brands and competitors: their prompts.
  affected_prompts (source, cause, prompt_id, first) as materialized (
    select source, cause, prompt_id, date '-infinity' from batch where source = 'prompts' and prompt_id is not null
    union
    select changed.source, cause, prompt.id, '-infinity'
    from (select distinct source, cause, brand_id from batch where source in ('brands', 'competitors')) as changed
    cross join lateral (select id from export_source.prompts where prompts.brand_id = changed.brand_id offset 0) as prompt
    union
    select source, cause, id, first from entries_for_all cross join export_source.prompts
  ),
  -- Up from mentions, citations, phrases and recommendations: their answers.
  changed_parts as materialized (
    select distinct source, cause, answer_id, day from batch where source <> 'answers' and answer_id is not null
  ), answers_of_parts as (
    select answer_id, prompt_id, day from batch where source = 'answers'
    union
    select part.answer_id, seen.prompt_id, seen.day
    from (select distinct answer_id from changed_parts) as part cross join lateral (
      select prompt_id, (answered_at at time zone 'UTC')::date as day
      from export_source.answers where answers.id = part.answer_id offset 0
    ) as seen
  ), affected_answers as materialized (
    select source, cause, answer_id, prompt_id, day from batch where source = 'answers'
    union
    select part.source, cause, answer_id, answer.prompt_id, answer.day
    from changed_parts as part join answers_of_parts as answer using (answer_id)
    union
    select 'models', 'models', answers.id, answers.prompt_id, (answered_at at time zone 'UTC')::date
    from (select distinct model_id from batch) as changed join export_source.answers using (model_id)
    where exists (select from batch where model_id is not null)
    union
    select 'markets', 'markets', answers.id, answers.prompt_id, (answered_at at time zone 'UTC')::date
    from (select distinct market_id from batch) as changed join export_source.answers using (market_id)
    where exists (select from batch where market_id is not null)
  ),

  -- The days of these prompts and answers; with a day of recording, also the answer's.
  days_of_prompts (source, cause, dated_by, prompt_id, date, answered) as materialized (
    select source, cause, 'answered_at', prompt_id, day, null::date from affected_answers
    union
    select seed.source, cause, 'answered_at', seed.prompt_id, answered.day, null
    from affected_prompts as seed cross join lateral (
      select distinct (answered_at at time zone 'UTC')::date as day from export_source.answers
      where answers.prompt_id = seed.prompt_id and (answered_at at time zone 'UTC')::date >= seed.first offset 0
    ) as answered
    -- Also where the batch has moved or deleted the answers: for the cause alone, since these days are affected anyway.
    union
    select seed.source, cause, 'answered_at', seed.prompt_id, changed.day, null
    from affected_prompts as seed
    join (select distinct prompt_id, day from batch where source = 'answers') as changed using (prompt_id)
    where changed.day >= seed.first
    union
    select seed.source, seed.cause, 'recorded_at', seed.prompt_id, part.day, answer.day
    from affected_prompts as seed join answers_of_parts as answer using (prompt_id) join changed_parts as part using (answer_id)
    where seed.first = '-infinity' and part.source = 'citations'
    union
    select part.source, cause, 'recorded_at', answer.prompt_id, part.day, answer.day
    from changed_parts as part join answers_of_parts as answer using (answer_id) where part.source = 'citations'
    union
    select seed.source, cause, 'recorded_at', seed.prompt_id, cited.day, seed.day
    from (
      select source, cause, answer_id, prompt_id, day from affected_answers where source <> 'citations'
      union all
      select seed.source, cause, asked.id, seed.prompt_id, asked.day
      from (select * from affected_prompts where first = '-infinity' and source in (select source from sources_by_recording)) as seed
      cross join lateral (
        select id, (answered_at at time zone 'UTC')::date as day
        from export_source.answers where answers.prompt_id = seed.prompt_id offset 0
      ) as asked
      union all
      select seed.source, seed.cause, changed.answer_id, seed.prompt_id, changed.day
      from affected_prompts as seed
      join (select answer_id, prompt_id, day from batch where source = 'answers') as changed using (prompt_id)
      where seed.first = '-infinity'
    ) as seed cross join lateral (
      select distinct (recorded_at at time zone 'UTC')::date as day
      from export_source.citations where citations.answer_id = seed.answer_id offset 0
    ) as cited
    where seed.source in (select source from sources_by_recording)
    -- Of a rolling window: few of the citations.
    union
    select 'prompts', 'recomputed', 'recorded_at', answers.prompt_id, (recorded_at at time zone 'UTC')::date,
      (answered_at at time zone 'UTC')::date
    from export_source.citations join export_source.answers on answers.id = answer_id
    where (recorded_at at time zone 'UTC')::date >= (select first from entries_for_all where source = 'prompts')
      and exists (select from entries_for_all where source = 'prompts' and first > '-infinity')
  ),
  -- Up from the prompts: their brands.
  brands_of_prompts as (
    select prompt_id, brand_id from batch where source = 'prompts'
    union
    select seed.prompt_id, seen.brand_id
    from (select distinct prompt_id from days_of_prompts) as seed cross join lateral (
      select brand_id from export_source.prompts where prompts.id = seed.prompt_id offset 0
    ) as seen
  ), days_of_brands as (
    select metric, brand_id, date, cause
    from days_of_prompts join metric_sources using (source, dated_by) join brands_of_prompts using (prompt_id)
    -- Days whose rows are gone, and days that a refresh may be computing.
    union
    select metric, brand_id, date, cause
    from entries_for_all
    join metric_sources using (source) join daily.row_schemas using (metric) join daily.changes using (endpoint)
    where rows > 0 and date >= first
    union
    select metric, brand_id, date, cause from entries_for_all join metric_sources using (source) join daily.refresh_queue using (metric)
    where date >= first
  ), citation_day as (
    insert into daily.citation_days (brand_id, recorded, answered)
    select distinct brand_id, date, answered from days_of_prompts join brands_of_prompts using (prompt_id)
    where dated_by = 'recorded_at' and brand_id is not null and answered is not null
      and date between '0001-01-01' and '9999-12-31'
    on conflict do nothing
  ),

  -- Leaves out days outside of the calendar, which an application's tables may hold.
  reached as materialized (
    select brand_id, metric, date, cause from days_of_brands
    where brand_id is not null and date between '0001-01-01' and '9999-12-31'
  ), queued_cause as (
    insert into daily.queued_causes (brand_id, metric, date, cause, batch)
    select brand_id, metric, date, cause, previous.batch + 1 from reached
  ),
  -- A change ends the wait of a day that failed, but not of one that takes too long. Locks days in the order of their key, as
  -- daily.finish does, and then waits only for a brand of which daily.finish has locked all days: no deadlock.
  queued as (
    insert into daily.refresh_queue as entry (brand_id, metric, date, as_of, batch)
    select brand_id, metric, date, previous.as_of, previous.batch + 1
    from reached
    group by brand_id, metric, date
    order by brand_id, metric collate "C", date
    on conflict (brand_id, metric, date) do update
    set batch = excluded.batch,
      attempts = case when entry.alone then entry.attempts else 0 end,
      retry_at = case when entry.alone then entry.retry_at end,
      last_error = case when entry.alone then entry.last_error end
    returning brand_id
  ), listed as (
    insert into daily.queued_brands (brand_id, as_of)
    select distinct brand_id, previous.as_of from queued order by brand_id
    on conflict do nothing
  )
  select count(*) into added from queued;

  update daily.progress set as_of = started, batch = previous.batch + 1;
  -- Only here are entries added, so none can be added to a brand that has none now.
  delete from daily.queued_brands where brand_id in (
    select brand_id from daily.queued_brands as queued
    where not returned and (select date from daily.refresh_queue as entry where entry.brand_id = queued.brand_id limit 1) is null
    for update skip locked);
  return added;
end
$function$;
