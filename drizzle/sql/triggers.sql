-- The triggers that log which rows of a source changed (docs/architecture.md, When a citation is inserted). They are on the
-- table under the source and on its partitions, and run the source's query over the rows of a statement. A statement does
-- not fail because of the query, whatever its rows hold, and whatever became of the names in it.

-- For each source, the columns that can change a stored row, or which brands can be read, and which of them a log keeps.
create or replace function daily.tracked_columns() returns table (source text, log text, relevant text, logged text)
language sql immutable set search_path = pg_catalog, pg_temp as $function$
values
  ('answers', 'change_log', 'id as answer_id, prompt_id, (answered_at at time zone ''UTC'')::date as day, model_id, market_id, error is null',
    'answer_id, prompt_id, day'),
  ('answer_mentions', 'change_log', 'answer_id, name', 'answer_id'),
  ('sentiment_phrases', 'change_log', 'answer_id, polarity, confidence', 'answer_id'),
  ('recommendations', 'change_log', 'answer_id, competitor_id, recommended', 'answer_id'),
  ('citations', 'change_log', 'answer_id, url, domain, owned, (recorded_at at time zone ''UTC'')::date as day', 'answer_id, day'),
  ('prompts', 'change_log', 'id as prompt_id, brand_id, counts_in_metrics, retired_at is null', 'prompt_id, brand_id'),
  ('brands', 'change_log', 'id as brand_id, name, display_name, aliases', 'brand_id'),
  ('brands', 'brand_log', 'id as brand_id, organization_id, active', 'brand_id'),
  ('competitors', 'change_log', 'id, brand_id, name, aliases, active', 'brand_id'),
  ('models', 'change_log', 'id as model_id, provider', 'model_id'),
  ('markets', 'change_log', 'id as market_id, name', 'market_id')
$function$;

-- The table under a source.
create or replace function daily.table_under(of_source text) returns pg_catalog.pg_class
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select pg_class from daily.source_tables() as tables join pg_catalog.pg_class on oid = base
  where tables.source = of_source and not is_partition
$function$;

-- Returns a query of the tracked columns of some rows of the table under a source, seen through the source's view. Run it
-- with pg_catalog as search_path: no other function can then take the place of one that the view names. A WITH stands in
-- for the table, with its columns in order, since a partition can have another one; those that the view does not read can
-- be renamed and dropped. The text has the same meaning in each session.
create or replace function daily.seen_through(of_source text, of_log text, of_rows text) returns text
language plpgsql set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on set datestyle = iso set intervalstyle = iso_8601 set extra_float_digits = 1
set bytea_output = hex as $function$
declare
  base pg_catalog.pg_class := daily.table_under(of_source);
  mention text := '(?<![\w".])' || regexp_replace(base.oid::regclass::text, '(\W)', '\\\1', 'g') || '(?![\w"$])';
  query text := rtrim(pg_catalog.pg_get_viewdef(format('export_source.%I', of_source)::regclass), ';');
  columns text := (
    select string_agg(case when is_read then '' else 'null as ' end || quote_ident(attname), ', ' order by attnum)
    from pg_catalog.pg_attribute
    cross join lateral (
      select exists (
        select from daily.reads
        where view = format('export_source.%I', of_source)::regclass and relation = base.oid and reads.attnum = pg_attribute.attnum
      ) as is_read
    ) as reading
    where attrelid = base.oid and attnum > 0 and not attisdropped);
begin
  if regexp_count(query, mention) <> 1 then
    raise exception 'The text of export_source.% has the name of its table more than once', of_source;
  end if;
  return (
    select format('select %s from (with %I as (select %s from %s) %s) as seen',
      relevant, base.relname, columns, of_rows, regexp_replace(query, mention, replace(quote_ident(base.relname), '\', '\\')))
    from daily.tracked_columns() where source = of_source and log = of_log);
end
$function$;

-- Returns a statement that adds the rows of a query of the tracked columns to a log.
create or replace function daily.log_statement(of_source text, of_log text, query text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select format(
    'insert into daily.%5$I (source, %1$s) select distinct %2$L, %1$s from (%3$s) as changed where %4$s is not null',
    logged, of_source, query, split_part(logged, ',', 1), of_log)
  from daily.tracked_columns() where source = of_source and log = of_log
$function$;

-- Creates the functions of a source's triggers, or replaces them. They run as their owner: a role that writes rows needs
-- no rights on the log. When the query fails, the statement that it logs does not. A function logs the first of
--   1. the rows, or of an update those by which old and new differ. ALL, because a view without a key may have equal rows
--   2. all rows of an update: comparing them evaluates each tracked column, and this only those that are logged
--   3. the whole source
-- OTHERS leaves out a cancel, which ends the statement, and a failed assertion.
create or replace function daily.create_trigger_functions(of_source text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  base pg_catalog.pg_class := daily.table_under(of_source);
  other text := daily.other_dependency(format('export_source.%I', of_source)::regclass);
  of_log text;
  new_rows text;
  old_rows text;
  event text;
  statement text;
  body text;
  queries text[];
  query text;
begin
  if other is not null then
    raise exception 'A row of export_source.% does not depend on one row of % alone: the view uses %',
        of_source, base.oid::regclass, other
      using hint = 'Change the view, or use the rolling window (docs/existing-database.md#rolling-window).';
  end if;
  foreach event in array array['insert', 'delete', 'update', 'truncate'] loop
    body := '';
    for of_log in select log from daily.tracked_columns() where source = of_source loop
      new_rows := daily.seen_through(of_source, of_log, 'new_rows');
      old_rows := daily.seen_through(of_source, of_log, 'old_rows');
      queries := case event
        when 'insert' then array[new_rows]
        when 'delete' then array[old_rows]
        when 'update' then array[
          format('%s union all %s', old_rows, new_rows),
          format('(%1$s except all %2$s) union all (%2$s except all %1$s)', old_rows, new_rows)]
        else array[]::text[] end;
      statement := format('insert into daily.%I (source) values (%L)', of_log, of_source);
      foreach query in array queries loop
        query := daily.log_statement(of_source, of_log, query);
        -- A statement that can never run is an error now.
        execute format(
          'explain with old_rows as (select * from %1$s), new_rows as (select * from %1$s) %2$s', base.oid::regclass, query);
        statement := format('begin %s; exception when others or assert_failure then %s; end', query, statement);
      end loop;
      body := format('%s %s;', body, statement);
    end loop;
    execute format(
      'create or replace function daily.%1$I() returns trigger
       language plpgsql security definer set search_path = pg_catalog, pg_temp
       set standard_conforming_strings = on set extra_float_digits = 1 set bytea_output = hex as %2$L;
       revoke execute on function daily.%1$I() from public',
      format('log_%s_%s', of_source, event), format(e'#variable_conflict use_column\nbegin %s return null; end', body));
  end loop;
end
$function$;

-- Creates the triggers of a source on a table. They also fire where a session has disabled triggers
-- (session_replication_role).
create or replace function daily.create_triggers(of_table regclass, of_source text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  event text;
  transition text;
begin
  for event, transition in
    values
      ('insert', 'referencing new table as new_rows'),
      ('delete', 'referencing old table as old_rows'),
      ('update', 'referencing old table as old_rows new table as new_rows'),
      ('truncate', '')
  loop
    execute format(
      'create or replace trigger %1$I after %2$s on %3$s %4$s for each statement execute function daily.%1$I();
       alter table %3$s enable always trigger %1$I',
      format('log_%s_%s', of_source, event), event, of_table, transition);
  end loop;
end
$function$;

-- Tracks the changes of a table under a source, and of its partitions, from now on, and logs all rows, to cover earlier
-- changes. Call it again after you change the view. A row of the view must depend on one row of the table alone.
create or replace function daily.install_triggers(of_table regclass, of_source text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  source_view regclass := to_regclass(format('export_source.%I', of_source));
  relations regclass[] := array(select distinct relation from daily.reads where reads.view = source_view);
  previous record;
begin
  if source_view is null or not exists (select from daily.sources where source = of_source) then
    raise exception 'No metric reads %', of_source
      using hint = 'The second argument is the name of a view of export_source, such as answers.';
  end if;
  -- One statement may delete rows of two joined tables, and neither trigger would find the rows of the other.
  if array[of_table] <> relations then
    raise exception '% does not read % alone, but %', source_view, of_table, array_to_string(relations, ', ')
      using hint = 'Change the view, or use the rolling window (docs/existing-database.md#rolling-window).';
  end if;
  -- Statements on a parent fire no trigger of a child, and those on a child none of a parent that is no partitioned table.
  if exists (select from daily.outside_parents(of_table)) then
    raise exception '% is a partition or a child of another table, or has children', of_table
      using hint = 'Let the view select from the partitioned table, or use the rolling window (docs/existing-database.md#rolling-window).';
  end if;
  perform daily.create_trigger_functions(of_source);
  for previous in
    select tgrelid::regclass as base, tgname from pg_catalog.pg_trigger
    where tgname like format('log\_%s\_%%', of_source)
      and tgfoid in (select oid from pg_catalog.pg_proc where pronamespace = 'daily'::regnamespace)
      and tgrelid not in (select base from daily.source_tables() as tables where tables.source = of_source)
  loop
    execute format('drop trigger %I on %s', previous.tgname, previous.base);
  end loop;
  perform daily.create_triggers(base, of_source) from daily.source_tables() as tables where tables.source = of_source;
  insert into daily.change_log (source) values (of_source);
  insert into daily.brand_log (source) select source from daily.tracked_columns() where (source, log) = (of_source, 'brand_log');
end
$function$;

-- Tracks the changes of a partition and of its own partitions, and logs its rows as changed. Statements that attach, detach
-- or drop a partition fire no trigger: call this in the same transaction, after the first and before the others.
create or replace function daily.log_partition(of_table regclass, of_source text) returns void
language plpgsql set search_path = pg_catalog, pg_temp set row_security = off as $function$
declare
  of_log text;
begin
  perform daily.create_triggers(base, of_source)
  from (select of_table union select relid from pg_partition_tree(of_table)) as partition (base);
  for of_log in select log from daily.tracked_columns() where source = of_source loop
    execute daily.log_statement(of_source, of_log, daily.seen_through(of_source, of_log, of_table::text));
  end loop;
end
$function$;

-- Updates the functions of all tracked sources, unless the rolling window replaces them. Triggers call them by name, so the
-- upgrade locks no table.
select daily.create_trigger_functions(source)
from (select source from daily.source_tables() except select source from daily.untracked_tables() where not is_partition) as tracked
where not exists (select from daily.rolling_window);
