-- daily.refresh_queue lists what the refresh has to recompute. The triggers (triggers.sql) add entries.

-- Whether this transaction cannot see what other transactions committed after it began. It could enqueue an answer's
-- previous day. The triggers then take a stronger lock, so that Postgres raises 40001 and the client can retry.
create or replace function daily.has_fixed_snapshot() returns boolean
language sql stable as $function$
  select current_setting('transaction_isolation') in ('repeatable read', 'serializable')
$function$;

-- Adds an entry for each metric of a source and each day of the prompts' brands. The lock on the prompts makes a
-- transaction that moves one to another brand wait, or this one read the new brand: otherwise neither would enqueue
-- the new brand.
create or replace function daily.enqueue(of_source text, of_dated_by text, prompt_ids uuid[], dates date[]) returns void
language plpgsql set search_path = '' as $function$
begin
  if daily.has_fixed_snapshot() then
    perform from export_source.prompts where id = any (prompt_ids) for share;
  else
    perform from export_source.prompts where id = any (prompt_ids) for key share;
  end if;

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

-- After a truncate, the refresh recomputes every day of the source's metrics.
create or replace function daily.enqueue_truncate() returns trigger
language plpgsql security definer set search_path = '' as $function$
begin
  insert into daily.refresh_queue (metric) select metric from daily.sources where source = tg_argv[0];
  return null;
end
$function$;
