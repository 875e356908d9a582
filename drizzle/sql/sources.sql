-- A source is a view of export_source that a metric reads.

-- The relations that each view reads, and the numbers of the columns.
create or replace view daily.reads as
  select ev_class::regclass as view, refobjid::regclass as relation, refobjsubid as attnum
  from pg_catalog.pg_rewrite
  join pg_catalog.pg_depend
    on classid = 'pg_catalog.pg_rewrite'::regclass and objid = pg_rewrite.oid
    and refclassid = 'pg_catalog.pg_class'::regclass and refobjid <> ev_class
  -- The type of a composite column is a relation, too.
  join pg_catalog.pg_class on pg_class.oid = refobjid and relkind <> 'c'
  where ev_type = '1';

-- Returns the first thing that a row of a view depends on next to one row of one table; null where there is none. Reads
-- PostgreSQL's tree of the view as text: nodes, as {VAR, and fields, as :varno 1, where <> is an empty one. A backslash is
-- before each blank or brace of a name.
create or replace function daily.other_dependency(of_view regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $function$
  with tokens as materialized (
    select n, match[1] as name, match[2] as value,
      sum(case left(match[1], 1) when '{' then 1 when '}' then -1 else 0 end) over (order by n) as depth
    from pg_rewrite
    cross join regexp_matches(ev_action::text, '(?<!\\)(\{[A-Z]+|\}|:\w+)(?: (-?\d+|<>))?', 'g')
      with ordinality as token (match, n)
    where ev_class = of_view and ev_type = '1'
  ), casts as (
    select of_type.value::oid as of_type, to_type.value::oid as to_type
    from tokens as node
    cross join lateral (
      select n, value from tokens where n > node.n and depth = node.depth and name = ':resulttype' order by n limit 1
    ) as to_type
    -- Of its argument. Nodes without a type are boolean.
    cross join lateral (
      select coalesce((
        select value from tokens
        where n between node.n and to_type.n and depth = node.depth + 1 and name in (
          ':vartype', ':consttype', ':funcresulttype', ':opresulttype', ':resulttype', ':casetype', ':typeId', ':array_typeid',
          ':row_typeid', ':coalescetype', ':minmaxtype', ':refrestype')
        order by n limit 1), '16') as value
    ) as of_type
    where name = '{COERCEVIAIO'
  ), functions (oid, words) as (
    select value::oid, value::oid::regprocedure::text from tokens where name = ':funcid'
    union all
    select oprcode, 'the operator ' || oid::regoperator from tokens join pg_operator on oid = value::oid where name = ':opno'
    union all
    -- PostgreSQL marks those of enums as stable, because a value can be renamed.
    select pg_proc.oid, format('the cast from %s to %s', of_type::regtype, to_type::regtype)
    from casts join pg_type on pg_type.oid in (of_type, to_type)
    join pg_proc on pg_proc.oid = case pg_type.oid when of_type then typoutput else typinput end
    where proname not in ('enum_in', 'enum_out')
  )
  select found from (
    select case name
        when '{COMMONTABLEEXPR' then 'WITH'
        when '{SETOPERATIONSTMT' then 'a union, intersection or difference'
        when '{SUBLINK' then 'a subquery in an expression'
        when '{AGGREF' then 'an aggregate'
        when '{WINDOWFUNC' then 'a window function'
        when '{SQLVALUEFUNCTION' then 'the current time or user'
        when '{TABLESAMPLECLAUSE' then 'TABLESAMPLE'
        else format('an expression that is not supported (%s)', substr(name, 2)) end as found
    from tokens where name like '{%' and substr(name, 2) <> all (regexp_split_to_array(
      'QUERY RANGETBLENTRY RTEPERMISSIONINFO ALIAS FROMEXPR JOINEXPR RANGETBLREF RANGETBLFUNCTION TARGETENTRY SORTGROUPCLAUSE '
      'VAR CONST FUNCEXPR NAMEDARGEXPR OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR CASEEXPR CASEWHEN CASETESTEXPR '
      'ARRAYEXPR ROWEXPR COALESCEEXPR MINMAXEXPR NULLTEST BOOLEANTEST RELABELTYPE COERCEVIAIO ARRAYCOERCEEXPR COERCETODOMAIN '
      'FIELDSELECT SUBSCRIPTINGREF COLLATEEXPR', ' '))
    union all
    select case name when ':distinctClause' then 'DISTINCT' when ':groupClause' then 'GROUP BY' when ':havingQual' then 'HAVING'
        else 'LIMIT or OFFSET' end
    from tokens where name in (':distinctClause', ':groupClause', ':havingQual', ':limitCount', ':limitOffset') and value is null
    union all
    select 'an outer join' from tokens where name = ':jointype' and value <> '0'
    union all
    -- The rows of a statement have no system columns, and a whole row changes with the columns of the table.
    select case value when '0' then 'a whole row' else 'a system column' end
    from tokens where name = ':varattno' and value ~ '^(-|0$)'
    union all
    select 'the virtual column ' || attname from daily.reads
    join pg_attribute on attrelid = relation and pg_attribute.attnum = reads.attnum and attgenerated = 'v'
    where reads.view = of_view
    union all
    -- PostgreSQL 15 also has the view itself in the list, for its OLD and NEW.
    select 'its table twice' from tokens as kind join tokens as relation on relation.n = kind.n + 1
    where kind.name = ':rtekind' and kind.value = '0' and relation.value <> of_view::oid::text having count(*) > 1
    union all
    -- A text cannot name the schema of these operators.
    select oid::regoperator || ' in NULLIF, IS DISTINCT FROM or CASE' from tokens join pg_operator on oid = value::oid
    where name = ':opno' and oprnamespace <> 'pg_catalog'::regnamespace
      and exists (select from tokens where name in ('{NULLIFEXPR', '{DISTINCTEXPR', '{CASETESTEXPR'))
    union all
    select words from functions join pg_proc using (oid)
    -- The tree has no default arguments. A body of BEGIN ATOMIC depends on what it reads.
    where provolatile <> 'i' or proargdefaults::text ~ '\{(?!CONST )' or exists (
      select from pg_depend where classid = 'pg_proc'::regclass and objid = oid and refclassid = 'pg_class'::regclass)
  ) as findings limit 1
$function$;

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

-- Why triggers of a table would miss changes of its rows: it has a parent, or children that are no partitions.
create or replace function daily.outside_parents(of_table regclass) returns table (relation regclass)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select inhparent::regclass from pg_catalog.pg_inherits where inhrelid = of_table
  union all
  select inhrelid from pg_catalog.pg_inherits join pg_catalog.pg_class on oid = inhparent
  where inhparent = of_table and relkind <> 'p'
$function$;

-- Those without all four triggers, enabled always, and those of which statements on another table change rows.
create or replace function daily.untracked_tables() returns table (source text, base regclass, is_partition boolean)
language sql stable set search_path = pg_catalog, pg_temp as $function$
  select tables.*
  from daily.source_tables() as tables
  where 4 > (
    select count(*) from pg_catalog.pg_trigger
    where tgrelid = tables.base and tgname ~ format('^log_%s_(insert|update|delete|truncate)$', tables.source)
      and tgenabled = 'A')
    or not is_partition and exists (select from daily.outside_parents(tables.base))
$function$;
