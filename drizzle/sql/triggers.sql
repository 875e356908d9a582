-- The triggers that add entries to daily.refresh_queue when a row of a source changes. A source is a view of
-- export_source; its triggers are on the table under the view, whether ours or another application's. Their
-- functions are created from the templates below, in which create_triggers replaces
--   {{new_rows}}, {{old_rows}}  by the rows that the statement wrote or removed, seen through the view
--   {{changed_rows}}            by both of these, or the one that the event has
--   {{old_row}}                 by the row that a trigger of a row removes, seen through the view
--   {{source}}                  by the name of the source
-- A view may hide rows, such as soft-deleted ones, so an update can add rows to the view or remove them: new_rows and
-- old_rows do not pair up.
-- Triggers take no locks and never wait: a load must not fail because of them. They enqueue the days that they see. Where
-- another transaction may see others, or this one cannot look, they append to daily.rechecks (queue.sql).
create or replace function daily.trigger_templates() returns table (sources text[], events text[], body text)
language sql immutable set search_path = '' as $function$
values
(array['answers'], array['insert', 'delete'], $template$
declare
  loads boolean := tg_op = 'INSERT' and daily.skips_foreign_keys();
  -- A transaction that added citations of a loaded answer may commit after it.
  done xid8 := case when not loads then '0' end;
begin
  if not loads and not daily.has_fixed_snapshot() then
    perform daily.enqueue('answers', 'answered_at', array_agg(prompt_id), array_agg(date))
    from (select distinct prompt_id, (answered_at at time zone 'UTC')::date as date from {{changed_rows}}) as day;
    return null;
  end if;

  insert into daily.rechecks (metric, prompt_id, date, until)
  select distinct sources.metric, prompt_id, (answered_at at time zone 'UTC')::date, done
  from {{changed_rows}} join daily.sources on sources.source = 'answers' and sources.dated_by = 'answered_at';

  insert into daily.rechecks (metric, prompt_id, answer_id, until)
  select sources.metric, prompt_id, id, done
  from {{changed_rows}} join daily.sources on sources.source = 'answers' and sources.dated_by = 'recorded_at'
  where loads or tg_op = 'DELETE';
  return null;
end
$template$),

-- A transaction that writes mentions or citations of an answer enqueues the day on which it sees the answer, and may
-- commit after this one. The rechecks name the prompt, since a third transaction may move it to another brand.
(array['answers'], array['update'], $template$
declare
  sees_commits boolean := not daily.has_fixed_snapshot();
  prompt_ids uuid[];
  dates date[];
begin
  select array_agg(prompt_id), array_agg(date) into prompt_ids, dates
  from (
    select distinct prompt_id, (answered_at at time zone 'UTC')::date as date
    from (
      (select * from {{old_rows}} except select * from {{new_rows}})
      union all
      (select * from {{new_rows}} except select * from {{old_rows}})
    ) as changed
  ) as day;

  insert into daily.rechecks (metric, brand_id, prompt_id, date)
  select sources.metric,
    case when sees_commits then (select brand_id from export_source.prompts where prompts.id = day.prompt_id) end,
    day.prompt_id, day.date
  from unnest(prompt_ids, dates) as day(prompt_id, date)
  join daily.sources on sources.source = 'answers' and sources.dated_by = 'answered_at';

  -- Citations that this transaction does not see.
  insert into daily.rechecks (metric, brand_id, prompt_id, answer_id)
  select sources.metric,
    case when sees_commits then (select brand_id from export_source.prompts where prompts.id = answer.prompt_id) end,
    answer.prompt_id, answer.id
  from (
    select id, coalesce(new_rows.prompt_id, old_rows.prompt_id) as prompt_id
    from {{new_rows}} full join {{old_rows}} using (id)
    where (new_rows.prompt_id is null, new_rows.error is null)
      is distinct from (old_rows.prompt_id is null, old_rows.error is null)
  ) as answer
  join daily.sources on sources.source = 'answers' and sources.dated_by = 'recorded_at';

  -- Such a citation may be gone when the refresh looks it up, and its own trigger names one of the two brands. So the
  -- refresh recomputes all days of both.
  insert into daily.rechecks (metric, brand_id, prompt_id)
  select distinct sources.metric, moved.brand_id, case when moved.brand_id is null then moved.prompt_id end
  from (
    select either.prompt_id,
      case when sees_commits then (select brand_id from export_source.prompts where prompts.id = either.prompt_id) end as brand_id
    from {{new_rows}}
    join {{old_rows}} using (id)
    cross join lateral (values (new_rows.prompt_id), (old_rows.prompt_id)) as either(prompt_id)
    where new_rows.prompt_id <> old_rows.prompt_id
  ) as moved
  join daily.sources on sources.source = 'answers' and sources.dated_by = 'recorded_at';

  if sees_commits then
    perform daily.enqueue('answers', 'recorded_at', array_agg(prompt_id), array_agg(date))
    from (
      select distinct moved.prompt_id, (cited.recorded_at at time zone 'UTC')::date as date
      from {{new_rows}}
      full join {{old_rows}} using (id)
      join export_source.citations as cited on cited.answer_id = id
      cross join lateral (values (new_rows.prompt_id), (old_rows.prompt_id)) as moved(prompt_id)
      where (new_rows.prompt_id, new_rows.error is null) is distinct from (old_rows.prompt_id, old_rows.error is null)
    ) as day;

    perform daily.enqueue('answers', 'answered_at', prompt_ids, dates);
  end if;
  return null;
end
$template$),

-- Runs before the foreign key deletes the citations of an answer: afterwards their brand is unknown.
-- daily.deleted_answers tells the trigger of the citations that their days are in the queue.
(array['answers'], array['delete row'], $template$
declare
  prompt_ids uuid[];
  dates date[];
begin
  if daily.has_fixed_snapshot() then
    return old;
  end if;
  select array_agg(prompt_id), array_agg(date) into prompt_ids, dates
  from (
    select distinct old_row.prompt_id, (cited.recorded_at at time zone 'UTC')::date as date
    from {{old_row}}
    join export_source.citations as cited on cited.answer_id = old_row.id
  ) as day;
  if dates is not null then
    perform daily.enqueue('answers', 'recorded_at', prompt_ids, dates);
    insert into daily.deleted_answers (answer_id, date, transaction_id)
    select old_row.id, day.date, pg_current_xact_id()
    from {{old_row}} cross join unnest(dates) as day(date)
    where day.date is not null
    on conflict (answer_id, date) do update set transaction_id = excluded.transaction_id;
  end if;
  return old;
end
$template$),

-- OFFSET 0 makes Postgres look up answers one by one: a session keeps the plan of its first statement, and after a
-- bulk load a single row must not cost a scan of all answers.
(array['answer_mentions', 'sentiment_phrases', 'recommendations'], array['insert', 'update', 'delete'], $template$
begin
  if daily.has_fixed_snapshot() then
    insert into daily.rechecks (metric, answer_id, until)
    select distinct sources.metric, changed_rows.answer_id, xid8 '0'
    from {{changed_rows}} join daily.sources on sources.source = '{{source}}';
    return null;
  end if;

  perform daily.enqueue('{{source}}', 'answered_at', array_agg(prompt_id), array_agg(date))
  from (
    select distinct answer.prompt_id, (answer.answered_at at time zone 'UTC')::date as date
    from {{changed_rows}} cross join lateral (
      select prompt_id, answered_at from export_source.answers where answers.id = changed_rows.answer_id offset 0
    ) as answer
  ) as day;
  return null;
end
$template$),

-- As above, and for the day of the recording.
(array['citations'], array['insert', 'update', 'delete'], $template$
declare
  prompt_ids uuid[];
  answered date[];
  recorded date[];
begin
  if daily.has_fixed_snapshot() then
    insert into daily.rechecks (metric, answer_id, date, until)
    select distinct sources.metric, changed_rows.answer_id,
      case sources.dated_by when 'recorded_at' then (changed_rows.recorded_at at time zone 'UTC')::date end, xid8 '0'
    from {{changed_rows}} join daily.sources on sources.source = 'citations';
    return null;
  end if;

  select array_agg(day.prompt_id), array_agg(day.answered), array_agg(day.recorded)
  into prompt_ids, answered, recorded
  from (
    select distinct
      answer.prompt_id,
      (answer.answered_at at time zone 'UTC')::date as answered,
      (changed_rows.recorded_at at time zone 'UTC')::date as recorded
    from {{changed_rows}} cross join lateral (
      select prompt_id, answered_at from export_source.answers where answers.id = changed_rows.answer_id offset 0
    ) as answer
  ) as day;
  perform daily.enqueue('citations', 'answered_at', prompt_ids, answered);
  perform daily.enqueue('citations', 'recorded_at', prompt_ids, recorded);

  -- One statement may delete an answer and its citations. Their brand is unknown then, so the entry is for every brand,
  -- unless the answer's own trigger enqueued the days. The depth of triggers does not tell: it is 1 in a cascade too.
  if tg_op <> 'INSERT' then
    insert into daily.refresh_queue (metric, date)
    select distinct sources.metric, (old_rows.recorded_at at time zone 'UTC')::date
    from {{old_rows}}
    join daily.sources on sources.source = 'citations' and sources.dated_by = 'recorded_at'
    where old_rows.recorded_at is not null
      and not exists (select from export_source.answers where answers.id = old_rows.answer_id)
      and not exists (
        select from daily.deleted_answers as deleted
        where deleted.answer_id = old_rows.answer_id
          and deleted.date = (old_rows.recorded_at at time zone 'UTC')::date
          and deleted.transaction_id = pg_current_xact_id());
    delete from daily.deleted_answers
    where answer_id in (select answer_id from {{old_rows}}) and transaction_id = pg_current_xact_id();
  end if;
  return null;
end
$template$),

-- The answers of a new prompt are there before it only where foreign keys are off.
(array['prompts'], array['insert'], $template$
begin
  if daily.skips_foreign_keys() then
    insert into daily.rechecks (metric, brand_id, prompt_id)
    select sources.metric, new_rows.brand_id, new_rows.id
    from {{new_rows}} join daily.sources on sources.source = 'prompts';
  end if;
  return null;
end
$template$),

-- The refresh looks up the days of a prompt, after this transaction, so answers that are being added are not missed.
-- It recomputes all days of a brand that loses a prompt: the prompt's own days may be unknown by then. It does so for
-- the new brand as long as there are transactions that may not have seen the prompt there.
(array['prompts'], array['update'], $template$
begin
  insert into daily.rechecks (metric, brand_id)
  select distinct sources.metric, new_rows.brand_id
  from {{new_rows}} left join {{old_rows}} using (id) join daily.sources on sources.source = 'prompts'
  where new_rows.brand_id is distinct from old_rows.brand_id;

  insert into daily.refresh_queue (metric, brand_id)
  select distinct sources.metric, old_rows.brand_id
  from {{old_rows}} left join {{new_rows}} using (id) join daily.sources on sources.source = 'prompts'
  where new_rows.brand_id is distinct from old_rows.brand_id;

  insert into daily.refresh_queue (metric, brand_id, prompt_id)
  select sources.metric, new_rows.brand_id, new_rows.id
  from {{new_rows}} left join {{old_rows}} using (id) join daily.sources on sources.source = 'prompts'
  where (new_rows.brand_id, new_rows.counts_in_metrics, new_rows.retired_at is null)
    is distinct from (old_rows.brand_id, old_rows.counts_in_metrics, old_rows.retired_at is null);
  return null;
end
$template$),

(array['prompts'], array['delete'], $template$
begin
  insert into daily.refresh_queue (metric, brand_id)
  select distinct sources.metric, old_rows.brand_id
  from {{old_rows}} join daily.sources on sources.source = 'prompts';
  return null;
end
$template$),

(array['brands'], array['insert'], $template$
begin
  if daily.skips_foreign_keys() then
    insert into daily.refresh_queue (metric, brand_id)
    select sources.metric, new_rows.id
    from {{new_rows}} join daily.sources on sources.source = 'brands';
  end if;
  return null;
end
$template$),

(array['brands'], array['update'], $template$
begin
  insert into daily.refresh_queue (metric, brand_id)
  select sources.metric, id
  from {{new_rows}} full join {{old_rows}} using (id) join daily.sources on sources.source = 'brands'
  where (new_rows.name, new_rows.display_name, new_rows.aliases)
    is distinct from (old_rows.name, old_rows.display_name, old_rows.aliases);
  return null;
end
$template$),

(array['brands'], array['delete'], $template$
begin
  insert into daily.refresh_queue (metric, brand_id)
  select distinct sources.metric, old_rows.id from {{old_rows}} cross join daily.sources;
  return null;
end
$template$),

(array['competitors'], array['insert', 'update', 'delete'], $template$
begin
  insert into daily.refresh_queue (metric, brand_id)
  select distinct sources.metric, changed_rows.brand_id
  from {{changed_rows}} join daily.sources on sources.source = 'competitors';
  return null;
end
$template$),

-- A model or market that was loaded after its answers has no stored days, so the refresh looks them up.
(array['models'], array['insert'], $template$
begin
  if daily.skips_foreign_keys() then
    insert into daily.rechecks (metric, model_id, until)
    select sources.metric, new_rows.id, xid8 '0'
    from {{new_rows}} join daily.sources on sources.source = 'models';
  end if;
  return null;
end
$template$),

(array['markets'], array['insert'], $template$
begin
  if daily.skips_foreign_keys() then
    insert into daily.rechecks (metric, market_id, until)
    select sources.metric, new_rows.id, xid8 '0'
    from {{new_rows}} join daily.sources on sources.source = 'markets';
  end if;
  return null;
end
$template$),

-- A model or market that enters the view has no stored days, so the refresh recomputes every day.
(array['models'], array['update'], $template$
begin
  insert into daily.refresh_queue (metric, model_id)
  select sources.metric, case when old_rows.provider is not null then id end
  from {{new_rows}} full join {{old_rows}} using (id) join daily.sources on sources.source = 'models'
  where new_rows.provider is distinct from old_rows.provider;
  return null;
end
$template$),

(array['markets'], array['update'], $template$
begin
  insert into daily.refresh_queue (metric, market_id)
  select sources.metric, case when old_rows.name is not null then id end
  from {{new_rows}} full join {{old_rows}} using (id) join daily.sources on sources.source = 'markets'
  where new_rows.name is distinct from old_rows.name;
  return null;
end
$template$)
$function$;

-- The tables under the sources. Follows views that read views.
create or replace function daily.source_tables() returns table (source text, base regclass)
language sql stable set search_path = '' as $function$
  with recursive read as (
    select pg_class.relname::text as source, pg_class.oid as relation, pg_class.relkind
    from pg_catalog.pg_class
    where pg_class.relnamespace = 'export_source'::regnamespace
      and pg_class.relname in (select sources.source from daily.sources)
    union
    select read.source, pg_class.oid, pg_class.relkind
    from read
    join pg_catalog.pg_rewrite on pg_rewrite.ev_class = read.relation
    join pg_catalog.pg_depend
      on pg_depend.classid = 'pg_catalog.pg_rewrite'::regclass and pg_depend.objid = pg_rewrite.oid
      and pg_depend.refclassid = 'pg_catalog.pg_class'::regclass and pg_depend.refobjid <> read.relation
    join pg_catalog.pg_class on pg_class.oid = pg_depend.refobjid
    where read.relkind = 'v'
  )
  select distinct read.source, read.relation::regclass from read where read.relkind <> 'v'
$function$;

-- Source tables without enabled triggers.
create or replace function daily.untracked_tables() returns table (source text, base regclass)
language sql stable set search_path = '' as $function$
  select source_tables.source, source_tables.base
  from daily.source_tables()
  where not exists (
    select from pg_catalog.pg_trigger
    where tgrelid = source_tables.base and tgname = format('enqueue_%s_update', source_tables.source) and tgenabled = 'A')
$function$;

-- Creates the function of a trigger, which runs as its owner: a role that writes rows needs no rights on the queue.
-- `home` is the schema of the types and functions that the view's query names without a schema.
create or replace function daily.create_trigger_function(name text, home text, body text) returns void
language plpgsql set search_path = '' as $function$
begin
  execute format(
    'create or replace function daily.%I() returns trigger
     language plpgsql security definer set search_path = %I, pg_temp as %L',
    name, home, body);
  execute format('revoke execute on function daily.%I() from public', name);
end
$function$;

-- Creates a trigger that also fires where a session has disabled triggers (session_replication_role). An existing
-- trigger stays: it calls the function by name, and an upgrade must not lock the table.
create or replace function daily.create_trigger(of_table regclass, name text, definition text) returns void
language plpgsql set search_path = '' as $function$
begin
  if not exists (select from pg_catalog.pg_trigger where tgrelid = of_table and tgname = name and tgenabled = 'A') then
    execute format('create or replace trigger %I %s', name, definition);
    execute format('alter table %s enable always trigger %I', of_table, name);
  end if;
end
$function$;

-- Creates the triggers on the table under a source, or replaces their functions by the current templates. They take the
-- mapping from the view, whose query they run over the changed rows. So a row of the view must come from one row of
-- the table: views that group rows or join tables are rejected.
create or replace function daily.create_triggers(of_table regclass, of_source text) returns void
language plpgsql set search_path = '' as $function$
declare
  source_view regclass := to_regclass(format('export_source.%I', of_source));
  home text;
  base text;
  mapping text;
  new_rows text;
  old_rows text;
  previous record;
  template record;
  name text;
  body text;
  slot text[];
begin
  if source_view is null or not exists (select from daily.sources where source = of_source) then
    raise exception 'No metric reads %', of_source
      using hint = 'The second argument is the name of a view of export_source, such as answers.';
  end if;
  select nspname, relname into home, base
  from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
  where pg_class.oid = of_table and relkind in ('r', 'p');
  if not found then
    raise exception '% is not a table', of_table using hint = 'Name the table that the view reads.';
  end if;
  -- One statement may delete rows of two joined tables, and neither trigger would find the rows of the other.
  if array[of_table] is distinct from array(
    select distinct refobjid::regclass from pg_catalog.pg_rewrite
    join pg_catalog.pg_depend
      on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
      and refclassid = 'pg_catalog.pg_class'::regclass and refobjid <> source_view
    where ev_class = source_view
  ) then
    raise exception '% does not read % alone', source_view, of_table
      using hint = 'Triggers need a view that selects from one table. Use daily.rolling_window for other views.';
  end if;
  -- Postgres raises an error where a row of the view is not a row of the table.
  execute format('select from %s limit 0 for key share', source_view);

  -- With this search_path the query of the view names the table without its schema, so a WITH can stand in for it.
  perform set_config('search_path', quote_ident(home), true);
  mapping := rtrim(pg_catalog.pg_get_viewdef(source_view), ';');
  perform set_config('search_path', '', true);
  new_rows := format('(with %I as (select * from new_rows) %s)', base, mapping);
  old_rows := format('(with %I as (select * from old_rows) %s)', base, mapping);

  -- Each function serves one table per source, so drop triggers on tables that the view no longer reads.
  for previous in
    select tgrelid::regclass as base, tgname from pg_catalog.pg_trigger
    where tgname like format('enqueue\_%s\_%%', of_source) and tgrelid <> of_table and tgparentid = 0
      and tgfoid in (select oid from pg_catalog.pg_proc where pronamespace = 'daily'::regnamespace)
  loop
    execute format('drop trigger %I on %s', previous.tgname, previous.base);
  end loop;

  for template in
    select event, templates.body
    from daily.trigger_templates() as templates cross join unnest(events) as event
    where of_source = any (sources)
  loop
    name := format('enqueue_%s_%s', of_source, replace(template.event, ' ', '_'));
    body := template.body;
    foreach slot slice 1 in array array[
      ['{{new_rows}}', new_rows || ' as new_rows'],
      ['{{old_rows}}', old_rows || ' as old_rows'],
      ['{{old_row}}', format('(with %I as (select old.*) %s) as old_row', base, mapping)],
      ['{{changed_rows}}', case template.event
        when 'insert' then new_rows
        when 'delete' then old_rows
        else format('(%s union all %s)', old_rows, new_rows)
      end || ' as changed_rows'],
      ['{{source}}', of_source]
    ] loop
      body := replace(body, slot[1], slot[2]);
    end loop;
    perform daily.create_trigger_function(name, home, body);
    perform daily.create_trigger(of_table, name, format(
      case template.event
        when 'insert' then 'after insert on %s referencing new table as new_rows for each statement'
        when 'update' then 'after update on %s referencing old table as old_rows new table as new_rows for each statement'
        when 'delete' then 'after delete on %s referencing old table as old_rows for each statement'
        when 'delete row' then 'before delete on %s for each row'
      end || ' execute function daily.%I()',
      of_table, name));
  end loop;
  perform daily.create_trigger(of_table, format('enqueue_%s_truncate', of_source), format(
    'after truncate on %s for each statement execute function daily.enqueue_truncate(%L)', of_table, of_source));
end
$function$;

-- Tracks the changes of a table under a source from now on, and enqueues every day, to cover earlier changes. For an
-- application's tables; call it again after you change the view.
create or replace function daily.install_triggers(of_table regclass, of_source text) returns void
language plpgsql set search_path = '' as $function$
begin
  perform daily.create_triggers(of_table, of_source);

  insert into daily.refresh_queue (metric)
  select metric from daily.sources where source = of_source
  except
  select metric from daily.refresh_queue where num_nonnulls(brand_id, date, prompt_id, model_id, market_id) = 0;
end
$function$;

-- Updates the triggers of all tracked tables to the templates above.
select daily.create_triggers(base, source)
from (select base, source from daily.source_tables() except select base, source from daily.untracked_tables()) as tracked;
