-- Takes from PUBLIC what every role may do by default, and ours need not: temporary tables and large objects. Other roles
-- that own or were granted anything in this database keep it, since an application may need it. Only the owner of the
-- database, and for large objects a superuser, can take it away.
create or replace function daily.revoke_defaults() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  others text := (
    select string_agg(distinct format('%I', rolname), ', ')
    from pg_shdepend
    join pg_database on datname = current_database()
      and (dbid = pg_database.oid or classid = 'pg_database'::regclass and objid = pg_database.oid)
    join pg_roles on refclassid = 'pg_authid'::regclass and refobjid = pg_roles.oid
    where rolname not in ('export_api_reader', 'export_api_refresher', 'export_api_keys'));
  privilege text;
begin
  for privilege in
    select format('temporary on database %I', datname) from pg_database
    where datname = current_database() and pg_has_role(datdba, 'usage')
      and has_database_privilege('public', oid, 'temporary')
    union all
    select format('execute on function %s', oid::regprocedure) from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname in ('lo_creat', 'lo_create', 'lo_from_bytea')
      and pg_has_role(proowner, 'usage') and has_function_privilege('public', oid, 'execute')
  loop
    execute format('revoke %s from public', privilege);
    if others is not null then
      execute format('grant %s to %s', privilege, others);
    end if;
  end loop;
end
$function$;

-- Three roles with the least privileges: the Workers that answer requests, the refresh, and the command that manages
-- keys. They cannot log in until they get a password. It is a function so that an administrator can run it again when
-- the migrating role cannot create roles.
create or replace function daily.grant_roles() returns void
language plpgsql as $function$
declare
  name text;
  setting text;
begin
  revoke execute on all functions in schema daily from public;
  foreach name in array array['export_api_reader', 'export_api_refresher', 'export_api_keys'] loop
    begin
      if not exists (select from pg_catalog.pg_roles where rolname = name) then
        execute format('create role %I nologin', name);
      end if;
    exception
      -- Roles belong to the whole server: a migration of another database may create it at the same time.
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise notice 'The role % is missing. Run `select daily.grant_roles()` as a role that may create roles.', name;
        return;
    end;
  end loop;

  grant usage on schema export_source to export_api_reader, export_api_keys;
  grant usage on schema metrics to export_api_reader;
  grant usage on schema daily to export_api_reader, export_api_refresher, export_api_keys;

  grant select (id, organization_id, created_by, scope, key_hash, brand_ids, expires_at, revoked_at)
    on export_source.api_keys to export_api_reader;
  grant select (organization_id, user_id, role) on export_source.memberships to export_api_reader, export_api_keys;
  grant select (organization_id, plan, status) on export_source.subscriptions to export_api_reader, export_api_keys;
  grant select (id, organization_id, active) on export_source.brands to export_api_reader;
  grant select on metrics.brands to export_api_reader;
  for name in select distinct metric from daily.sources loop
    execute format('grant select on daily.%I to export_api_reader', name);
  end loop;
  grant select on daily.changes, daily.changes_clock to export_api_reader;
  grant select on daily.objects, daily.versions, daily.shared_tables to export_api_reader;
  grant select on daily.progress, daily.queued_brands to export_api_reader, export_api_refresher;

  grant execute on function
    daily.start_refresh(boolean, date), daily.resolve(boolean), daily.refresh(uuid, interval, integer),
    daily.take_lease(text), daily.release_lease(integer),
    daily.due_brands(integer, boolean),
    daily.read_batch(integer, uuid[], integer, integer, integer), daily.read_part(integer, uuid, integer, integer),
    daily.read_periods(integer, uuid[], integer),
    daily.commit_batch(integer, boolean, json, json), daily.commit_first(integer),
    daily.expire(integer, integer, uuid[], integer)
    to export_api_refresher;
  grant select on daily.refresh_queue, daily.rolling_window, daily.sources to export_api_refresher;
  grant insert (source) on daily.change_log to export_api_refresher;

  grant select (id, organization_id) on export_source.brands to export_api_keys;
  grant select, insert, update (expires_at, revoked_at) on export_source.api_keys to export_api_keys;
  grant select on daily.key_log to export_api_keys;
  perform daily.revoke_defaults();

  begin
    for name, setting in
      values
        ('export_api_reader', 'default_transaction_read_only = on'),
        ('export_api_reader', $$statement_timeout = '8s'$$),
        ('export_api_reader', 'datestyle = iso'),
        ('export_api_reader', 'row_security = off'),
        ('export_api_reader', 'jit = off'),
        ('export_api_refresher', 'datestyle = iso'),
        ('export_api_refresher', 'row_security = off'),
        -- Before a scheduled Worker gives up (lib/refresh/scheduled.ts), so that daily.refresh can record what took too long.
        ('export_api_refresher', $$statement_timeout = '40s'$$),
        ('export_api_refresher', 'jit = off'),
        ('export_api_refresher', $$default_transaction_isolation = 'read committed'$$),
        ('export_api_keys', 'datestyle = iso'),
        ('export_api_keys', 'row_security = off'),
        ('export_api_keys', $$statement_timeout = '10s'$$)
    loop
      execute format('alter role %I in database %I set %s', name, current_database(), setting);
    end loop;
  exception when insufficient_privilege then
    raise notice 'The roles have no settings. Run `select daily.grant_roles()` as the role that created them.';
  end;
end
$function$;

select daily.grant_roles();
