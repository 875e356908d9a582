-- How the share is written again (docs/architecture.md, The share).

-- Waits for the publisher's statement, takes its lease, and drops what is staged.
create or replace function daily.stop_publisher() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock(hashtext('daily.publish'));
  update daily.publisher set lease = lease + 1, held_until = '-infinity', holder = 'a migration or repair';
  update daily.staged_objects set dropped_at = now();
end
$function$;

-- Lets the objects of a table be written again when its days are listed. Call it when its columns have changed, which digests do
-- not tell.
create or replace function daily.rewrite_table(of_metric text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.stop_publisher();
  update daily.current_objects set digest = null where metric = of_metric;
end
$function$;

-- Ends all versions: after a restore, and when objects are lost or wrong. What these brands lack is written again, and so are the
-- sets of the `wrong` objects, which are deleted at once, with the third and the month of a wrong day: a third or month is current
-- only while each of its days with rows is, or it would be a source of itself. The next version is at least two later than the last one, so that no feed
-- goes on, and later than any that a restored backup has forgotten: a number for each second since 2020. A publisher at work loses
-- its lease.
create or replace function daily.restart_share(brands uuid[] default '{}', wrong uuid[] default '{}') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  perform daily.stop_publisher();
  update daily.publisher set version = greatest(version + 1, extract(epoch from now() - timestamptz '2020-01-01 00:00Z')::integer);
  delete from daily.versions;
  delete from daily.published_brands where brand_id = any (brands);
  update daily.objects set added = null, removed = null, dropped_at = case when is_wrong then '-infinity' else now() end
  from (
    select objects.id, bool_or((objects.period, objects.first, objects.added) = (lost.period, lost.first, lost.added)) as is_wrong
    from daily.objects as lost join daily.objects using (metric, brand_id)
    where lost.id = any (wrong) and (
      (objects.period, objects.first, objects.added) = (lost.period, lost.first, lost.added)
      or lost.period = 'day' and objects.period in ('third', 'month') and objects.added is not null
        and lost.first between objects.first and objects.last)
    group by objects.id
  ) as affected
  where objects.id = affected.id;
end
$function$;
