-- Raises an error when row level security hides rows of a table from a view of export_source. Reads catalogs alone, since
-- an application may hold locks on its tables. Statements that read them run with row_security = off, and fail, too.
create or replace function daily.check_row_security() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  hidden record;
begin
  with recursive reached (view) as (
    select oid::regclass from pg_catalog.pg_class where relnamespace = 'export_source'::regnamespace and relkind = 'v'
    union
    select reads.relation from reached join daily.reads using (view)
  )
  select base.oid::regclass as base, reader.rolname into hidden
  from reached join daily.reads using (view)
  join pg_catalog.pg_class as seen on seen.oid = view
  join pg_catalog.pg_roles as reader on reader.oid = seen.relowner
  join pg_catalog.pg_class as base on base.oid = relation
  where base.relrowsecurity and not reader.rolsuper and not reader.rolbypassrls
    and not (pg_has_role(reader.oid, base.relowner, 'usage') and not base.relforcerowsecurity)
  order by base.oid::regclass::text limit 1;
  if found then
    raise insufficient_privilege using
      message = format('Row level security of %s hides rows from the role %I', hidden.base, hidden.rolname),
      hint = format('Run `alter role %I bypassrls`, or let a role with BYPASSRLS own the views.', hidden.rolname);
  end if;
end
$function$;

-- Raises an error when the view of a metric is missing: DROP … CASCADE of a table or column takes it along.
create or replace function daily.check_metrics() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  missing text := (
    select string_agg(format('metrics.%I', metric), ', ' order by metric) from daily.row_schemas
    where to_regclass(format('metrics.%I', metric)) is null);
begin
  if missing is not null then
    raise exception 'The views of metrics are missing: %', missing
      using errcode = 'invalid_schema_definition',
        hint = 'Create the view of export_source and these views again, with their statements in drizzle/migrations.';
  end if;
end
$function$;

-- Starts a run of the refresh: checks that triggers track all tables, or starts a pass over the rolling window where there
-- is one, and resolves the log. Unless `restart`, no pass starts while days of the last one wait, for at most an hour: a
-- day that takes too long must not stop all passes. `restart` also retries days that failed, at once. Returns the number of
-- days that it added to the queue, and the names of tables whose changes the triggers may miss: partitions without
-- triggers, and tables that logical replication fills, which fires no triggers of statements.
create or replace function daily.start_refresh(
  restart boolean, today date default (now() at time zone 'UTC')::date, out added integer, out untracked text
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off as $function$
declare
  settings daily.rolling_window;
  tables text;
begin
  -- Migrations take these locks, too: before they lock what this reads, and in this order. The first one waits for calls of
  -- daily.refresh, which lock days in another order than the update.
  if restart then perform pg_advisory_xact_lock(hashtext('daily.refresh')); end if;
  perform pg_advisory_xact_lock(hashtext('daily.resolve'));
  perform daily.check_row_security();
  perform daily.check_metrics();
  if restart then
    update daily.refresh_queue set retry_at = null where retry_at is not null;
  end if;
  select * into settings from daily.rolling_window for update;
  if not found then
    tables := (
      select string_agg(distinct base::text, ', ' order by base::text) from daily.untracked_tables() where not is_partition);
    untracked := (
      select string_agg(base::text, ', ' order by base::text)
      from (
        select base from daily.untracked_tables() where is_partition
        union
        select base from daily.source_tables() join pg_catalog.pg_subscription_rel on srrelid = base
      ) as missed);
    if tables is not null then
      raise exception 'No triggers track changes of %', tables
        using errcode = 'object_not_in_prerequisite_state',
          hint = 'Install them with `select daily.install_triggers(table, source)`, or recompute the most recent 7 '
            'days on each refresh with `insert into daily.rolling_window (days) values (7)`.';
    end if;
  elsif restart or settings.started_at < now() - interval '1 hour'
    or not exists (select from daily.refresh_queue where retry_at is null) then
    update daily.rolling_window set first_day = today - days + 1, started_at = clock_timestamp();
    insert into daily.change_log (source, day) values ('prompts', least(settings.first_day, today - settings.days + 1));
    insert into daily.brand_log (source) values ('brands');
  end if;
  added := daily.resolve();
end
$function$;
