-- daily.refresh_queue lists what the refresh has to recompute. The triggers (triggers.sql) add entries.

-- Whether this transaction cannot see what other transactions committed after it began, so the days that its triggers
-- look up may be outdated. Under `serializable`, what they read could also make Postgres raise 40001. The triggers
-- therefore read nothing and leave the lookup to daily.enqueue_rechecks.
create or replace function daily.has_fixed_snapshot() returns boolean
language sql stable as $function$
  select current_setting('transaction_isolation') in ('repeatable read', 'serializable')
$function$;

-- Whether this session checks no foreign keys, so rows may be inserted before the rows that they refer to.
create or replace function daily.skips_foreign_keys() returns boolean
language sql stable as $function$
  select current_setting('session_replication_role') = 'replica'
$function$;

-- What is not up to date: the entries of the queue, and what the next run adds to it.
create or replace view daily.waiting as
  select metric, brand_id, date from daily.refresh_queue
  union all
  select metric, brand_id, date from daily.rechecks;

-- Adds an entry for each metric of a source and each day of the prompts' brands.
create or replace function daily.enqueue(of_source text, of_dated_by text, prompt_ids uuid[], dates date[]) returns void
language plpgsql set search_path = '' as $function$
begin
  insert into daily.refresh_queue (metric, brand_id, date)
  select sources.metric, changed.brand_id, changed.date
  from (
    select distinct prompts.brand_id, day.date
    from unnest(prompt_ids, dates) as day(prompt_id, date)
    join export_source.prompts on prompts.id = day.prompt_id
  ) as changed
  join daily.sources on sources.source = of_source and sources.dated_by = of_dated_by;
end
$function$;

-- Starts a refresh: adds the days of daily.rechecks to the queue, and removes the rows that are done. Returns the number
-- of new entries. A transaction that did not see a change had begun before the change was committed. So a row is done
-- when all transactions have ended that were running when a run first saw the row. Entries that wait already are added
-- again: another refresh may be removing them, with a snapshot that lacks the late commit.
create or replace function daily.enqueue_rechecks() returns integer
language plpgsql security definer set search_path = '' as $function$
declare
  listed daily.rechecks[];
  added integer;
  total integer;
begin
  -- Remains where an application deletes answers without their citations.
  delete from daily.deleted_answers where transaction_id < pg_snapshot_xmin(pg_current_snapshot());

  with running as materialized (
    select pg_snapshot_xmin(snapshot) as oldest, pg_snapshot_xmax(snapshot) as next from pg_current_snapshot() as snapshot
  ), done as (
    delete from daily.rechecks using running where coalesce(until, next) <= oldest returning rechecks
  ), first_seen as (
    update daily.rechecks set until = next from running where until is null and oldest < next returning rechecks
  )
  select array_agg(rechecks) into listed
  from (
    select rechecks from done
    union all
    select rechecks from first_seen
    union all
    select rechecks from daily.rechecks, running where until > oldest
  ) as listing;

  with listing as materialized (
    select listing.*, sources.dated_by
    from unnest(listed) as listing
    join daily.sources on sources.source = 'answers' and sources.metric = listing.metric
  ), answer as materialized (
    select
      listing.metric, listing.dated_by, listing.answer_id, listing.date, seen.answered_at,
      coalesce(listing.prompt_id, seen.prompt_id, deleted.prompt_id) as prompt_id
    from listing
    -- As in the triggers, OFFSET 0 makes Postgres look up answers one by one.
    left join lateral (
      select id, prompt_id, answered_at from export_source.answers where answers.id = listing.answer_id offset 0
    ) as seen on true
    left join listing as deleted
      on deleted.answer_id = listing.answer_id and deleted.prompt_id is not null
      and listing.prompt_id is null and seen.id is null
    where listing.answer_id is not null
  ), day as (
    select metric, prompt_id, date from listing
    where answer_id is null and prompt_id is not null and (date is not null or brand_id is null)
    union
    select metric, prompt_id, date from answer where date is not null
    union
    select metric, prompt_id, (answered_at at time zone 'UTC')::date
    from answer
    where date is null and dated_by = 'answered_at' and answered_at is not null
    union
    select answer.metric, answer.prompt_id, cited.date
    from answer cross join lateral (
      select (recorded_at at time zone 'UTC')::date as date
      from export_source.citations where citations.answer_id = answer.answer_id offset 0
    ) as cited
    where answer.date is null and answer.dated_by = 'recorded_at'
  )
  insert into daily.refresh_queue (metric, brand_id, date, prompt_id)
  select distinct day.metric, prompts.brand_id, day.date, null::uuid
  from day join export_source.prompts on prompts.id = day.prompt_id
  union all
  -- The answer is gone, and its brand is unknown.
  select distinct metric, null::uuid, date, null::uuid from day where prompt_id is null
  union all
  select distinct metric, brand_id, null::date, prompt_id from listing
  where answer_id is null and brand_id is not null and date is null;
  get diagnostics total = row_count;

  if exists (select from unnest(listed) where num_nonnulls(model_id, market_id) > 0) then
    insert into daily.refresh_queue (metric, brand_id, date)
    select distinct listing.metric, prompts.brand_id, (answers.answered_at at time zone 'UTC')::date
    from unnest(listed) as listing
    join export_source.answers on answers.model_id = listing.model_id
    join export_source.prompts on prompts.id = answers.prompt_id
    union
    select distinct listing.metric, prompts.brand_id, (answers.answered_at at time zone 'UTC')::date
    from unnest(listed) as listing
    join export_source.answers on answers.market_id = listing.market_id
    join export_source.prompts on prompts.id = answers.prompt_id;
    get diagnostics added = row_count;
    total := total + added;
  end if;
  return total;
end
$function$;

-- After a truncate, the refresh recomputes every day of the source's metrics.
create or replace function daily.enqueue_truncate() returns trigger
language plpgsql security definer set search_path = '' as $function$
begin
  insert into daily.refresh_queue (metric) select metric from daily.sources where source = tg_argv[0];
  return null;
end
$function$;
