{#
  Returns a query: the rows of a metric, of the brands that the key reads. exact.yml has the columns and their types. dlt
  loads rows; Airbyte and Singer load documents, which have the rows of a day as JSON.
#}
{% macro metric_rows(table) -%}
select {{ export_api.typed_columns(['brand_id', 'date']) }}
from {% if export_api.loads_rows() -%} {{ source('export_api', table) }}
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
select {{ export_api.typed_columns() }}
from {% if var('export_api_loader') == 'singer' -%}
(select {{ export_api.elements('brands') }} as item from {{ source('export_api', 'brands') }} as document)
{%- else -%} {{ source('export_api', 'brands') }}
{%- endif %} as loaded
{%- endmacro %}

{# Returns a query: the days of the metrics, as `/days` described them. #}
{% macro day_rows(tables) -%}
{% for table in ['days'] if export_api.loads_rows() else tables -%}
select {{ export_api.typed_columns() }}
from {% if export_api.loads_rows() -%} {{ source('export_api', table) }} as loaded
{%- else -%}
(select *, '{{ table | replace('_', '-') }}' as endpoint from {{ export_api.documents(table) }} as document) as loaded
{%- endif %}
where {{ export_api.is_readable() }}
{%- if var('export_api_loader') == 'airbyte' %} and {{ adapter.quote('offset') }} = 0{% endif %}
{% if not loop.last %}union all
{% endif %}
{%- endfor %}
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
  Returns a subquery: the documents of the days as they were loaded last. A large day has several, its parts: those with the
  `changed_at` of the latest document with offset 0. Airbyte can keep earlier documents next to them.
#}
{% macro documents(table) -%}
  {%- if var('export_api_loader') == 'singer' -%} {{ source('export_api', table) }}
  {%- else -%}
  {%- set offset = adapter.quote('offset') -%}
  (
    select *
    from (
      select
        *,
        max(case when {{ offset }} = 0 then changed_at end) over (partition by brand_id, date) as day_changed_at,
        row_number() over (
          partition by brand_id, date, {{ offset }}, changed_at order by _airbyte_extracted_at desc
        ) as version
      from {{ source('export_api', table) }}
    ) as stored
    where changed_at = day_changed_at and version = 1
  )
  {%- endif -%}
{%- endmacro %}

{#
  Returns the columns of the model with their types: `stored` columns of the table, and the others of the JSON `item` when
  there is one. Loaders store the same column as different types.
#}
{% macro typed_columns(stored) -%}
{%- set types = {
  'uuid': dbt.type_string(), 'text': dbt.type_string(), 'date': 'date', 'integer': dbt.type_bigint(),
  'number': 'decimal(18, 4)', 'boolean': 'boolean', 'timestamp': 'timestamp with time zone'
} -%}
  {%- for column in model.columns.values() %}
  {% set cast_type = types.get(column.data_type.removesuffix(' or null')) -%}
  {{ column.name }}{{ ',' if not loop.last }}
  {%- endfor %}
{%- endmacro %}
