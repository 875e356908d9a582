-- What the share must hold: its tables, their rows, and the sets of a brand (docs/architecture.md, The share).

-- The tables of the share: where their rows are, their columns in order, each with its type in Delta's schemas, and the
-- columns that order a brand's rows.
create or replace view daily.shared_tables as
  with shared as (
    select metric, endpoint, fields, format('daily.%I', metric)::regclass as relation, 'brand_id' as brand
    from daily.row_schemas
    union all
    select 'brands', 'brands', array_agg(attname::text order by attnum), attrelid::regclass, 'id'
    from pg_catalog.pg_attribute
    where attrelid = 'metrics.brands'::regclass and attnum > 0 and attname not in ('organization_id', 'active')
    group by attrelid
  )
  select
    metric, endpoint, relation, fields, brand,
    jsonb_build_array(jsonb_build_object('name', 'brand_id', 'type', 'string')) || columns.columns as columns,
    coalesce(keys.keys, quote_ident(brand)) as keys
  from shared
  cross join lateral (
    select jsonb_agg(jsonb_build_object('name', field, 'type', case atttypid
      when 'date'::regtype then 'date'
      when 'integer'::regtype then 'long'
      when 'numeric'::regtype then 'double'
      when 'boolean'::regtype then 'boolean'
      else 'string' end) order by place) as columns
    from unnest(fields) with ordinality as sent (field, place)
    join pg_catalog.pg_attribute on attrelid = relation and attname = field
  ) as columns
  cross join lateral (
    select string_agg(quote_ident(attname), ', ' order by attnum) as keys
    from pg_catalog.pg_index join pg_catalog.pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indrelid = relation and indisprimary
  ) as keys;

-- The brands' own rows as the share has them, each with its digest.
create or replace view daily.brand_rows as
  select brand_id, fields, md5(fields::text) as digest
  from metrics.brands
  cross join lateral (
    select id as brand_id, to_jsonb(brands) - '{organization_id,active}'::text[] as fields
  ) as shared;

-- The objects of the latest version.
create or replace view daily.current_objects as
  select * from daily.objects where added is not null and removed is null;

-- The objects that a publisher writes or has written for the next version. Of each set, at most one reading is staged.
create or replace view daily.staged_objects as
  select * from daily.objects where added is null and dropped_at is null;

-- Lists each brand of daily.changes, by one index search each.
create or replace function daily.changed_brands() returns table (brand_id uuid)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with recursive known as (
    (select changes.brand_id from daily.changes order by changes.brand_id limit 1)
    union all
    select (select changes.brand_id from daily.changes where changes.brand_id > known.brand_id order by changes.brand_id limit 1)
    from known where known.brand_id is not null
  )
  select known.brand_id from known where known.brand_id is not null
$function$;

-- The brands that the share may have: those with days, with a row of their own, or with a current object of that row. A digest
-- is null where there is none.
create or replace view daily.known_brands as
  select brand_id, max(digest) as digest, max(current_digest) as current_digest
  from (
    select brand_id, null as digest, null as current_digest from daily.changed_brands()
    union all
    select brand_id, digest, null from daily.brand_rows
    union all
    select brand_id, null, digest from daily.current_objects where metric = 'brands'
  ) as known
  group by brand_id;

-- Returns the rows of a brand and table of a day, or for `brands` the brand's row, without `brand_id`, in parts: each is a JSON
-- array of up to about `max_bytes`. Returns none without rows.
create or replace function daily.read_rows(of_metric text, of_brand uuid, day date, max_bytes integer)
returns table (part integer, rows text)
language plpgsql stable set search_path = pg_catalog, pg_temp set datestyle = iso as $function$
begin
  return query execute (
    select format(
      'with stored as (
         select row_number() over (order by %1$s) as place, json_build_array(%3$s)::text as json
         from %4$s where %2$s = $1 %5$s
       ), sized as (
         select place, json, (sum(octet_length(json) + 1) over (order by place) - 1) / $3 as part from stored
       )
       select (row_number() over (order by part))::integer - 1, ''['' || string_agg(json, '','' order by place) || '']''
       from sized group by part',
      keys,
      quote_ident(brand),
      (select string_agg(quote_ident(field), ', ' order by place) from unnest(fields) with ordinality as sent (field, place)),
      relation,
      case when read_rows.day > '-infinity' then 'and date = $2' end)
    from daily.shared_tables where metric = of_metric)
  using of_brand, day, max_bytes;
end
$function$;

-- Lists the sets that the share must have of a brand: its row, and its days that changed since they were published. The digest
-- of a set without rows is zero.
create or replace function daily.target_sets(of_brand uuid)
returns table (metric text, period text, date date, rows bigint, digest text)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select metric, 'day', date, rows, digest
  from daily.changes join daily.row_schemas using (endpoint)
  where brand_id = of_brand and changed_at > coalesce(
    (select since from daily.published_brands where brand_id = of_brand), '')
  union all
  select 'brands', 'brand', '-infinity', count(*), coalesce(max(digest), repeat('0', 15))
  from daily.brand_rows where brand_id = of_brand
$function$;

-- Lists the thirds and months that some brands lack, each with the largest current objects that it consists of. A third can still
-- grow, until yesterday; a month is over. One of a single day would equal the day, and one of more than 8 MB saves no
-- requests. Thirds are due at once: then readers never have more than three objects of most months. A month is due an hour after
-- it was last written, so that a day that changes in each run costs little.
create or replace function daily.lacking_periods(brands uuid[])
returns table (
  brand_id uuid, metric text, period text, first date, last date, digest text, rows bigint, sources json, due_at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with today as (
    select (now() at time zone 'UTC')::date as today
  ), day as (
    select
      listed.brand_id, row_schemas.metric, objects.first as date,
      min(objects.digest) as digest, sum(objects.rows) as rows, sum(objects.bytes) as bytes
    from unnest(brands) as listed (brand_id)
    cross join daily.row_schemas
    join daily.current_objects as objects on objects.metric = row_schemas.metric and objects.brand_id = listed.brand_id
    where objects.period = 'day'
    group by listed.brand_id, row_schemas.metric, objects.first
  ), target as (
    select
      brand_id, metric, period, start as first, least(finish, today - 1) as last, sum(rows)::bigint as rows,
      lpad(to_hex(bit_xor(('x' || digest)::bit(60)::bigint)), 15, '0') as digest
    from day
    cross join today
    cross join lateral (
      select date_trunc('month', date::timestamp)::date as month, least((extract(day from date)::integer - 1) / 10, 2) * 10 as tens
    ) as calendar
    cross join lateral (values
      ('month', month, (month + interval '1 month - 1 day')::date),
      ('third', month + tens, case when tens < 20 then month + tens + 9 else (month + interval '1 month - 1 day')::date end)
    ) as range (period, start, finish)
    where date < today and (period = 'third' or finish < today)
    group by brand_id, metric, period, start, finish, today
    having count(*) > 1 and sum(bytes) <= 8000000 and bool_and(digest is not null)
  ), written as (
    select metric, brand_id, period, first, max(committed_at) as written_at
    from unnest(brands) as listed (brand_id)
    cross join daily.row_schemas
    join daily.objects using (metric, brand_id)
    join daily.versions on version = added
    where added >= (select min(version) from daily.versions where committed_at > now() - interval '1 hour') and period = 'month'
    group by metric, brand_id, period, first
  )
  select
    target.brand_id, target.metric, target.period, target.first, target.last, target.digest, target.rows, source.ids,
    coalesce(written_at + interval '1 hour', '-infinity')
  from target
  left join written using (metric, brand_id, period, first)
  cross join lateral (
    select json_agg(id order by first, id) as ids
    from (
      select id, objects.first, max(objects.last) over (
        order by objects.first, objects.last desc groups between unbounded preceding and 1 preceding) >= objects.last as is_contained
      from daily.current_objects as objects
      where objects.metric = target.metric and objects.brand_id = target.brand_id
        and objects.first between target.first and target.last and objects.last <= target.last
    ) as part
    where is_contained is not true
  ) as source
  where target.digest is distinct from (
    select objects.digest from daily.current_objects as objects
    where (objects.metric, objects.brand_id, objects.period, objects.first)
        = (target.metric, target.brand_id, target.period, target.first))
$function$;
