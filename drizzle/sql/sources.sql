-- A source is a view of export_source that a metric reads.

-- The relations that each view reads, and the numbers of the columns.
create or replace view daily.reads as
  select ev_class::regclass as view, refobjid::regclass as relation, refobjsubid as attnum
  from pg_catalog.pg_rewrite
  join pg_catalog.pg_depend
    on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
    and refclassid = 'pg_catalog.pg_class'::regclass and refobjid <> ev_class
  where ev_type = '1';

-- Which sources each metric reads, and which time dates its rows: citations.recorded_at where the metric reads it.
create or replace view daily.sources as
  with recursive reached (metric, relation, attnum) as (
    select view.relname::text, view.oid::regclass, 0
    from pg_catalog.pg_class as view join pg_catalog.pg_class as stored using (relname)
    where view.relnamespace = 'metrics'::regnamespace and stored.relnamespace = 'daily'::regnamespace
    union
    select metric, reads.relation, reads.attnum
    from reached join pg_catalog.pg_class on oid = reached.relation and relnamespace = 'metrics'::regnamespace
    join daily.reads on reads.view = reached.relation
  ), recording (relation, attnum) as (
    select attrelid, attnum from pg_catalog.pg_attribute
    where attrelid = 'export_source.citations'::regclass and attname = 'recorded_at'
  )
  select distinct metric, relname::text as source,
    case when metric in (select metric from reached join recording using (relation, attnum)) then 'recorded_at'
      else 'answered_at' end as dated_by
  from reached join pg_catalog.pg_class on oid = relation
  where relnamespace = 'export_source'::regnamespace;

-- The tables under the sources and their partitions. Follows views that read views.
create or replace function daily.source_tables() returns table (source text, base regclass, is_partition boolean)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  with recursive reached (source, relation) as (
    select distinct sources.source, format('export_source.%I', sources.source)::regclass from daily.sources
    union
    select reached.source, reads.relation from reached join daily.reads on reads.view = reached.relation
  )
  select reached.source, relid, level > 0
  from reached join pg_catalog.pg_class on oid = relation and relkind <> 'v'
  cross join lateral (
    select relid, level from pg_partition_tree(relation) union select relation, 0
  ) as tree
$function$;

-- Those without all four triggers, enabled always.
create or replace function daily.untracked_tables() returns table (source text, base regclass, is_partition boolean)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select tables.*
  from daily.source_tables() as tables
  where 4 > (
    select count(*) from pg_catalog.pg_trigger
    where tgrelid = tables.base and tgname ~ format('^log_%s_(insert|update|delete|truncate)$', tables.source)
      and tgenabled = 'A')
$function$;
