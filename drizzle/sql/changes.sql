-- daily.changes lists when the stored rows of each brand, endpoint and day last changed.

-- Returns the number of stored rows of some days of one metric, the sums of their fields that add up, their digest
-- (docs/specification.md, Digest), and the most bytes that they take as JSON. A field's text is as the pages send it. JSON
-- writes a character of `escaped` in at most six bytes.
create or replace function daily.summarize(of_metric text, brand_ids uuid[], dates date[])
returns table (brand_id uuid, date date, rows integer, totals json, digest text, bytes bigint)
language plpgsql stable set search_path = pg_catalog, pg_temp set datestyle = iso as $function$
declare
  escaped text := concat('["', chr(92), chr(92), chr(1), '-', chr(30), chr(127), chr(133), chr(8232), chr(8233), ']');
begin
  return query execute (
    select format(
      'select day.brand_id, day.date, count(row.text)::int, %s::json, lpad(to_hex(coalesce(
         bit_xor((''x'' || left(md5(convert_to(row.text, ''UTF8'')), 15))::bit(60)::bigint),
         0)), 15, ''0''), coalesce(sum(octet_length(row.text) + 5 * regexp_count(row.text, $3) + %s), 0)
       from unnest($1, $2) as day (brand_id, date)
       left join daily.%I as stored on stored.brand_id = day.brand_id and stored.date = day.date
       cross join lateral (
         select case when stored.date is not null then array_to_string(array[%s], chr(31), chr(92) || ''N'') end as text
         offset 0
       ) as row
       group by day.brand_id, day.date',
      row_schemas.totals,
      -- Quotes, colons and commas next to the names.
      (select sum(octet_length(field) + 6) from unnest(fields) as field),
      metric,
      (select string_agg(
         -- Not by literals, in which a backslash depends on standard_conforming_strings.
         case atttypid
           when 'text'::regtype
           then format('replace(replace(stored.%I, chr(92), chr(92) || chr(92)), chr(31), chr(92) || ''_'')', field)
           else format('stored.%I::text', field)
         end,
         ', ' order by place)
       from unnest(fields) with ordinality as sent (field, place)
       join pg_attribute on attrelid = format('daily.%I', metric)::regclass and attname = field))
    from daily.row_schemas where metric = of_metric)
  using brand_ids, dates, escaped;
end
$function$;

-- Adds kinds of causes, a JSON array, to those of a day, with the time of their change. A kind has its latest time.
create or replace function daily.add_causes(known json, kinds jsonb, at text) returns json
language sql immutable set search_path = pg_catalog, pg_temp as $function$
  select replace((coalesce(known::jsonb, '{}') || jsonb_object_agg(kind, at))::text, ' ', '')::json
  from jsonb_array_elements_text(kinds) as kind
$function$;

-- Returns what the list has of some days of one metric: an object per day, with metric, brand_id, date, rows, totals (as
-- text, since jsonb would reorder it), digest and bytes.
create or replace function daily.summaries(of_metric text, brand_ids uuid[], dates date[]) returns setof jsonb
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select to_jsonb(day) || jsonb_build_object('metric', of_metric, 'totals', day.totals::text)
  from daily.summarize(of_metric, brand_ids, dates) as day
$function$;

-- Advances the clock of changes, and returns its time in the form of changed_at. Its row is locked until the transaction
-- ends, so a greater changed_at is of a later commit; and it never goes back, as the system's clock may. Call it last, since
-- other refreshes wait from then on.
create or replace function daily.advance_clock() returns text
language sql set search_path = pg_catalog, pg_temp as $function$
  insert into daily.changes_clock (last) values (clock_timestamp())
  on conflict (single) do update set last = greatest(clock_timestamp(), changes_clock.last + interval '1 microsecond')
  returning to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$function$;

-- Lists days as changed now, each once: an array of summaries, each with `causes`, an array of kinds. Call it last
-- (daily.advance_clock).
create or replace function daily.list_changes(days jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  with summary as materialized (
    select endpoint, day.*
    from jsonb_to_recordset(days) as day (
      metric text, brand_id uuid, date date, rows integer, totals text, digest text, bytes bigint, causes jsonb)
    join daily.row_schemas using (metric)
  ), clock as materialized (
    select daily.advance_clock() as changed_at where exists (select from summary)
  )
  insert into daily.changes (brand_id, endpoint, date, rows, totals, digest, bytes, causes, changed_at, first_changed_at, batch)
  select summary.brand_id, endpoint, summary.date, summary.rows, summary.totals::json, summary.digest, summary.bytes,
    daily.add_causes(listed.causes, summary.causes, clock.changed_at), clock.changed_at,
    -- A copy may have a day that a restored backup lacks.
    case when summary.causes ? 'relisted' then '' else clock.changed_at end, progress.batch
  from summary
  left join daily.changes as listed using (endpoint, brand_id, date)
  cross join clock
  cross join daily.progress
  order by summary.brand_id, endpoint, summary.date
  on conflict (brand_id, endpoint, date) do update
  set rows = excluded.rows, totals = excluded.totals, digest = excluded.digest, bytes = excluded.bytes,
    causes = excluded.causes, changed_at = excluded.changed_at, batch = excluded.batch;
end
$function$;

-- Lists all days of brands as changed now, because keys read these brands that did not before. Reads no rows.
create or replace function daily.list_brands(of_brands uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  with clock as materialized (
    select daily.advance_clock() as changed_at where exists (select from daily.changes where brand_id = any (of_brands))
  )
  update daily.changes
  set changed_at = clock.changed_at, causes = daily.add_causes(causes, '["brands"]', clock.changed_at)
  from clock where brand_id = any (of_brands);
end
$function$;

-- Lists every day of a brand and metric as changed now: days with rows, days that have emptied, and all days from `first`
-- through today, if given. Refreshes wait meanwhile.
create or replace function daily.relist(of_metric text, of_brand uuid, first date default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
begin
  perform pg_advisory_xact_lock(hashtext('daily.refresh'));
  execute format(
    'select daily.list_changes(jsonb_agg(summary || ''{"causes": ["relisted"]}''))
     from (
       select array_agg(date) as dates from (
         select date from daily.%1$I where brand_id = $1
         union
         select date from daily.changes join daily.row_schemas using (endpoint) where brand_id = $1 and metric = %1$L
         union
         select $2 + days from generate_series(0, (now() at time zone ''UTC'')::date - $2) as days
       ) as day
     ) as listed
     cross join lateral daily.summaries(%1$L, array_fill($1, array[cardinality(dates)]), dates) as summary',
    of_metric)
  using of_brand, first;
end
$function$;

-- Makes the fields and totals of the last migration those of digests and of the share. A running refresh commits first, so the
-- days that a relist finds afterwards include all that have digests of the previous fields.
create or replace function daily.activate_row_schemas() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $function$
declare
  activated text;
begin
  perform pg_advisory_xact_lock(hashtext('daily.refresh'));
  for activated in
    update daily.row_schemas set fields = staged_fields, totals = staged_totals, listed = false
    where (fields, totals) <> (staged_fields, staged_totals)
    returning metric
  loop
    perform daily.rewrite_table(activated);
  end loop;
end
$function$;
