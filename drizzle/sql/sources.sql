-- A source is a view of export_source that a metric reads.

-- Which views of export_source each metric reads, and which time dates its rows: a metric that reads
-- citations.recorded_at is dated by it, others by the answer. Postgres knows the columns that a view reads.
create or replace view daily.sources as
  with recursive reads (metric, relation) as (
    select view.relname::text, view.oid
    from pg_catalog.pg_class as view
    join pg_catalog.pg_class as stored on stored.relname = view.relname and stored.relkind = 'r'
    where view.relnamespace = 'metrics'::regnamespace and stored.relnamespace = 'daily'::regnamespace
    union
    select reads.metric, pg_depend.refobjid
    from reads
    join pg_catalog.pg_class on pg_class.oid = relation and relnamespace = 'metrics'::regnamespace
    join pg_catalog.pg_rewrite on ev_class = relation
    join pg_catalog.pg_depend
      on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
      and refclassid = 'pg_catalog.pg_class'::regclass
  ), dated_by_citation (metric) as (
    select reads.metric
    from reads
    join pg_catalog.pg_rewrite on ev_class = relation
    join pg_catalog.pg_depend on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
    join pg_catalog.pg_attribute on attrelid = refobjid and attnum = refobjsubid
    where refobjid = 'export_source.citations'::regclass and attname = 'recorded_at'
  )
  select
    metric, relname::text as source,
    case when metric in (select metric from dated_by_citation) then 'recorded_at' else 'answered_at' end as dated_by
  from reads
  join pg_catalog.pg_class on pg_class.oid = relation
  where relnamespace = 'export_source'::regnamespace;

-- The tables under the sources and their partitions. Follows views that read views.
create or replace function daily.source_tables() returns table (source text, base regclass, is_partition boolean)
language sql stable set search_path = '' as $function$
  with recursive reads as (
    select relname::text as source, pg_class.oid as relation, relkind
    from pg_catalog.pg_class
    where relnamespace = 'export_source'::regnamespace and relname in (select sources.source from daily.sources)
    union
    select reads.source, pg_class.oid, pg_class.relkind
    from reads
    join pg_catalog.pg_rewrite on ev_class = relation
    join pg_catalog.pg_depend
      on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
      and refclassid = 'pg_catalog.pg_class'::regclass and refobjid <> relation
    join pg_catalog.pg_class on pg_class.oid = refobjid
    where reads.relkind = 'v'
  )
  select source, relation::regclass, false from reads where relkind <> 'v'
  union
  select source, relid, true from reads cross join pg_partition_tree(relation) where relkind = 'p' and level > 0
$function$;

-- Those without enabled triggers.
create or replace function daily.untracked_tables() returns table (source text, base regclass, is_partition boolean)
language sql stable set search_path = '' as $function$
  select tables.*
  from daily.source_tables() as tables
  where not exists (
    select from pg_catalog.pg_trigger
    where tgrelid = tables.base and tgname = format('log_%s_update', tables.source) and tgenabled = 'A')
$function$;
