-- What triggers enforce on the service's own table of keys, whoever writes to it: a key that ended stays ended, and each
-- creation, rotation and revocation is logged. A transaction names the user who acts in the setting export_api.actor, and
-- the successor of the key that it rotates in export_api.successor (cli/keys/change-keys.ts, cli/keys/rotate-key.ts).

-- The owner of the table could drop the trigger, so it may give a key its time back, as after a restore.
create or replace function daily.reject_revival() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  if pg_has_role((select relowner from pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  raise insufficient_privilege using
    message = 'A key stays revoked, and its expiry only moves to an earlier time',
    hint = 'Create a new key.';
end
$function$;

create or replace trigger reject_revival
  before update on api_keys for each row
  when (
    old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at
    or coalesce(new.expires_at, 'infinity') > coalesce(old.expires_at, 'infinity'))
  execute function daily.reject_revival();

-- The log has what is done to keys of the scope `export`, except an expiry without a successor. A role with rights on the
-- table itself may do the rest: it is the application's. `export_api_keys` has rights on the view alone.
create or replace function daily.reject_unlogged() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  if has_any_column_privilege(tg_relid, tg_op) then
    return new;
  end if;
  raise insufficient_privilege using
    message = 'The log of keys would not have this change',
    hint = 'Revoke or rotate a key of the scope export.';
end
$function$;

create or replace trigger reject_unlogged_insert
  before insert on api_keys for each row
  when (new.scope <> 'export')
  execute function daily.reject_unlogged();

create or replace trigger reject_unlogged_update
  before update on api_keys for each row
  when (
    old.scope <> 'export' or new.scope <> 'export'
    or new.expires_at is distinct from old.expires_at
      and coalesce(current_setting('export_api.successor', true), '') = '')
  execute function daily.reject_unlogged();

-- Runs as its owner: a role that writes keys needs no rights on the log. A rotation fails unless its successor is a key of
-- the same organization.
create or replace function daily.log_key() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
declare
  event text := tg_argv[0];
  actor uuid := nullif(current_setting('export_api.actor', true), '');
  successor uuid := nullif(current_setting('export_api.successor', true), '');
begin
  insert into daily.key_log (key_id, event, at, organization_id, user_id, successor_id)
  values (new.id, event, clock_timestamp(), new.organization_id, actor, (
    select id from export_source.api_keys as keys
    where event = 'rotated' and keys.id = successor and keys.organization_id = new.organization_id));
  return null;
end
$function$;

create or replace trigger log_created
  after insert on api_keys for each row
  when (new.scope = 'export')
  execute function daily.log_key('created');

create or replace trigger log_revoked
  after update on api_keys for each row
  when (new.scope = 'export' and old.revoked_at is null and new.revoked_at is not null)
  execute function daily.log_key('revoked');

create or replace trigger log_rotated
  after update of expires_at on api_keys for each row
  when (new.scope = 'export' and current_setting('export_api.successor', true) <> '')
  execute function daily.log_key('rotated');
