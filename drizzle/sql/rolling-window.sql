-- Starts a refresh where no triggers track changes: enqueues the days of daily.rolling_window, and all days at first.
-- Returns the number of new entries. Days before the window then count as up to date; days that passed without a
-- refresh are enqueued by the next one. Unless `restart`, it returns 0 while entries of the previous call remain, for
-- at most an hour: a day that cannot be computed must not block the window forever. With triggers it only checks that
-- they are there.
create or replace function daily.enqueue_rolling_window(
  restart boolean, today date default (now() at time zone 'UTC')::date
) returns integer
language plpgsql security definer set search_path = '' as $function$
declare
  settings daily.rolling_window;
  untracked text;
  first date;
  of_metric text;
  added integer;
  total integer := 0;
begin
  select * into settings from daily.rolling_window for update;
  if not found then
    select string_agg(distinct base::text, ', ' order by base::text) into untracked from daily.untracked_tables();
    if untracked is not null then
      raise exception 'No triggers track changes of %', untracked
        using errcode = 'object_not_in_prerequisite_state',
          hint = 'Install them with `select daily.install_triggers(table, source)`, or recompute the most recent 7 '
            'days on each refresh with `insert into daily.rolling_window (days) values (7)`.';
    end if;
    return 0;
  end if;
  if not restart and settings.enqueued_at > now() - interval '1 hour'
    and exists (select from daily.refresh_queue where added_at <= settings.enqueued_at) then
    return 0;
  end if;

  first := least(settings.watermark, today - settings.days) + 1;
  if settings.watermark = '-infinity' then
    insert into daily.refresh_queue (metric) select distinct metric from daily.sources;
    get diagnostics total = row_count;
  else
    with answered as materialized (
      select distinct brand_id, date from metrics.counted_answers where date between first and '9999-12-31'
    ), recorded as materialized (
      select distinct counted.brand_id, (cited.recorded_at at time zone 'UTC')::date as date
      from export_source.citations as cited
      join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
      where (cited.recorded_at at time zone 'UTC')::date between first and '9999-12-31'
    )
    insert into daily.refresh_queue (metric, brand_id, date)
    select distinct sources.metric, answered.brand_id, answered.date
    from daily.sources cross join answered where sources.dated_by = 'answered_at'
    union all
    select distinct sources.metric, recorded.brand_id, recorded.date
    from daily.sources cross join recorded where sources.dated_by = 'recorded_at'
    except
    select metric, brand_id, date from daily.refresh_queue;
    get diagnostics total = row_count;

    -- Days that have stored rows but no longer any raw row.
    for of_metric in select distinct metric from daily.sources loop
      execute format(
        'insert into daily.refresh_queue (metric, brand_id, date)
         select distinct %1$L, brand_id, date from daily.%1$I where date >= $1
         except select metric, brand_id, date from daily.refresh_queue',
        of_metric)
      using first;
      get diagnostics added = row_count;
      total := total + added;
    end loop;
  end if;

  update daily.rolling_window
  set watermark = today - days, enqueued_at = clock_timestamp();
  return total;
end
$function$;
