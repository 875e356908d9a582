{#
  Returns a query: the rows of a metric, of the brands that the key reads. exact.yml has the columns and their types. dlt
  loads rows; Airbyte and Singer load documents, which have the rows of a day as JSON.
#}
{% macro metric_rows(table) -%}
{%- set loads_rows = export_api.loads_rows() -%}
select {{ export_api.typed_columns(none if loads_rows else ['brand_id', 'date']) }}
from {% if loads_rows -%} {{ source('export_api', table) }}
{%- else -%}
(
  select brand_id, date, {{ export_api.elements('rows') }} as item
  from {{ export_api.documents(table) }} as document
)
{%- endif %} as loaded
where {{ export_api.is_readable() }}
{%- endmacro %}

{# Returns a query: the brands that the key reads. Singer loads one document, with all of them as JSON. #}
{% macro brand_rows() -%}
{%- if var('export_api_loader') == 'singer' -%}
select {{ export_api.typed_columns([]) }}
from (select {{ export_api.elements('brands') }} as item from {{ source('export_api', 'brands') }} as document) as loaded
{%- else -%}
select {{ export_api.typed_columns() }}
from {{ source('export_api', 'brands') }} as loaded
{%- endif -%}
{%- endmacro %}

{# Returns a query: the days of the metrics, as `/days` sent them. #}
{% macro day_rows(tables) -%}
select {{ export_api.typed_columns() }}
from {% if export_api.loads_rows() -%} {{ source('export_api', 'days') }}
{%- else -%}
(
  {%- for table in tables %}
  select
    '{{ table | replace('_', '-') }}' as endpoint, brand_id, date, changed_at, causes, digest, row_count
  from {{ export_api.documents(table) }} as document
  {%- if var('export_api_loader') == 'airbyte' %} where {{ adapter.quote('offset') }} = 0{% endif %}
  {{- ' union all' if not loop.last }}
  {%- endfor %}
)
{%- endif %} as loaded
where {{ export_api.is_readable() }}
{%- endmacro %}

{% macro loads_rows() -%}
  {%- set loader = var('export_api_loader') -%}
  {%- if loader not in ['dlt', 'airbyte', 'singer'] -%}
    {{ exceptions.raise_compiler_error("export_api_loader is '" ~ loader ~ "'. Set it to dlt, airbyte or singer.") }}
  {%- endif -%}
  {{ return(loader == 'dlt') }}
{%- endmacro %}

{# Returns whether the key reads the brand. Loaders keep the rows of brands that left. #}
{% macro is_readable() -%}
  cast(brand_id as {{ dbt.type_string() }}) in (select id from {{ ref('export_api__brands') }})
{%- endmacro %}

{#
  Returns a subquery: the documents of each day as it is now. A large day has several, its parts, with the same `changed_at`.
  Airbyte keeps earlier documents next to them, and appends a document again when a sync is repeated.
#}
{% macro documents(table) -%}
  {%- if var('export_api_loader') == 'singer' -%} {{ source('export_api', table) }}
  {%- else -%}
  (
    select *
    from (
      select
        *,
        max(changed_at) over (partition by brand_id, date) as day_changed_at,
        row_number() over (
          partition by brand_id, date, {{ adapter.quote('offset') }} order by changed_at desc, _airbyte_extracted_at desc
        ) as version
      from {{ source('export_api', table) }}
    ) as stored
    where changed_at = day_changed_at and version = 1
  )
  {%- endif -%}
{%- endmacro %}

{#
  Returns the columns of the model with their types: columns of the table, or those of the JSON `item` that are not among the
  `stored` ones. Loaders store the same column as different types. Times of a table stay as they are: one without a zone is in
  UTC, not in that of the session.
#}
{% macro typed_columns(stored=none) -%}
{%- set types = {
  'uuid': dbt.type_string(), 'text': dbt.type_string(), 'date': 'date', 'integer': dbt.type_bigint(),
  'number': 'decimal(18, 4)', 'boolean': 'boolean', 'timestamp': 'timestamp with time zone' if stored is not none
} -%}
  {%- for column in model.columns.values() %}
  {% set value = column.name if stored is none or column.name in stored else "item ->> '" ~ column.name ~ "'" -%}
  {%- set cast_type = types.get(column.data_type.removesuffix(' or null')) -%}
  {{ 'cast(' ~ value ~ ' as ' ~ cast_type ~ ')' if cast_type else value }} as {{ column.name }}{{ ',' if not loop.last }}
  {%- endfor %}
{%- endmacro %}

{# Returns the elements of an array as JSON, a row each. #}
{% macro elements(array) %}{{ adapter.dispatch('elements', 'export_api')(array) }}{% endmacro %}

{% macro duckdb__elements(array) %}unnest(cast(cast({{ array }} as json) as json[])){% endmacro %}

{% macro postgres__elements(array) %}jsonb_array_elements(to_jsonb({{ array }})){% endmacro %}
