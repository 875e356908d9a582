-- Returns the last day through which all stored rows of a brand are up to date, at most `last`, or null when there is
-- none from `first` on. Ignores days before `first`. Sequential scans are off because a cached plan that reads the whole
-- queue would be slow later. There is no search_path: setting one costs more than the reads, and every name is
-- qualified.
create or replace function daily.watermark(of_metric text, of_brand uuid, first date, last date) returns date
language plpgsql stable parallel safe set enable_seqscan = off as $function$
declare
  settled date := least(last, (select watermark from daily.rolling_window where single));
begin
  -- Most often nothing waits, which two probes show.
  if exists (select from daily.waiting where metric = of_metric and brand_id = of_brand)
    or exists (select from daily.waiting where metric = of_metric and brand_id is null) then
    if exists (
      select from daily.waiting
      where metric = of_metric and date is null and (brand_id = of_brand or brand_id is null)
    ) then
      return null;
    end if;
    settled := least(
      settled,
      (select min(date) - 1 from daily.waiting where metric = of_metric and brand_id = of_brand and date >= first),
      (select min(date) - 1 from daily.waiting where metric = of_metric and brand_id is null and date >= first));
  end if;
  return case when settled >= first then settled end;
end
$function$;

-- Returns the earliest watermark of all metrics, or null when a metric has none.
create or replace function daily.watermark(of_brand uuid, first date, last date) returns date
language plpgsql stable parallel safe set enable_seqscan = off as $function$
declare
  settled date := least(last, (select watermark from daily.rolling_window where single));
begin
  if exists (select from daily.waiting where brand_id = of_brand)
    or exists (select from daily.waiting where brand_id is null) then
    select case when count(*) = count(each.settled) then min(each.settled) end into settled
    from daily.row_schemas
    cross join lateral (select daily.watermark(metric, of_brand, first, last) as settled) as each;
  end if;
  return case when settled >= first then settled end;
end
$function$;
