-- Pages of 1000 rows are read by index, from memory or flash. With Postgres's default, which is for spinning disks,
-- the planner sorts a brand with tens of thousands of rows for each page instead.
do $$ begin
  execute format('alter database %I set random_page_cost = 1.1', current_database());
exception when insufficient_privilege then
  raise notice 'random_page_cost stays as it is: only the owner of the database can set it to 1.1';
end $$;

-- Where a publication includes all tables, Postgres refuses to delete rows that it cannot identify. The logs have no key,
-- since an index would cost their writers more.
do $$
declare
  log regclass;
begin
  for log in
    select oid from pg_catalog.pg_class
    where oid in ('daily.change_log'::regclass, 'daily.brand_log'::regclass) and relreplident <> 'f'
  loop
    execute format('alter table %s replica identity full', log);
  end loop;
end $$;

-- These tables are mostly dead rows, and the scale factor counts live rows only.
alter table daily.change_log set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
alter table daily.queued_causes set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
alter table daily.refresh_queue set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
