{#
  Returns a query: the current rows of a loaded table. Loaders store the same column as different types, and some store an
  empty text as null. Rates and weights have four decimals. exact.yml has the type of each column in the API.
#}
{% macro exact_rows(table, key) -%}
{%- set types = {
  'uuid': dbt.type_string(), 'date': 'date', 'integer': dbt.type_bigint(), 'number': 'decimal(18, 4)'
} -%}
select
  {%- for column in model.columns.values() %}
  {% set name, type = column.name, column.data_type -%}
  {% set cast_type = types.get(type.removesuffix(' or null')) -%}
  {%- if type == 'text' -%} coalesce({{ name }}, '') as {{ name }}
  {%- elif cast_type -%} cast({{ name }} as {{ cast_type }}) as {{ name }}
  {%- else -%} {{ name }}
  {%- endif -%}
  {{ ',' if not loop.last }}
  {%- endfor %}
from {{ export_api.current_rows(table, key) }} as loaded
{%- endmacro %}

{#
  Returns a subquery: the rows of a loaded table that the service served when it was loaded. A loader can keep other
  rows next to them: the variable export_api_loader picks the rule. `key` lists the columns that identify a row.
#}
{% macro current_rows(table, key) %}
  {%- set loader = var('export_api_loader', 'dlt') -%}
  {%- if loader == 'dlt' -%} {{ source('export_api', table) }}
  {%- elif loader == 'airbyte' -%} {{ export_api.rows_of_airbyte(table, key) }}
  {%- elif loader == 'singer' -%} {{ export_api.rows_of_singer(table) }}
  {%- else -%}
    {{ exceptions.raise_compiler_error("export_api_loader is '" ~ loader ~ "'. Set it to dlt, airbyte or singer.") }}
  {%- endif -%}
{%- endmacro %}

{#
  Airbyte appends a changed day whole, with the `changed_at` that announced it: rows with an earlier one are gone,
  and those of a day that was listed as empty later. A run that was repeated appends a row twice.
#}
{% macro rows_of_airbyte(table, key) -%}
  {%- if table == 'brands' -%} {{ source('export_api', table) }}
  {%- else -%}
  (
    select *
    from (
      select
        *,
        max(changed_at) over (partition by {{ 'brand_id, endpoint, date' if table == 'changes' else 'brand_id, date' }}) as day_changed_at,
        row_number() over (
          partition by {{ key | join(', ') }} order by changed_at desc, _airbyte_extracted_at desc
        ) as version
      from {{ source('export_api', table) }}
    ) as stored
    where changed_at = day_changed_at and version = 1
    {%- if table != 'changes' %}
      and not exists (
        select 1
        from {{ source('export_api', 'changes') }} as listed
        where listed.brand_id = stored.brand_id
          and listed.endpoint = '{{ table | replace('_', '-') }}'
          and listed.date = stored.date
          and listed.rows = 0
          and listed.changed_at > stored.changed_at
      )
    {%- endif %}
  )
  {%- endif -%}
{%- endmacro %}

{# A Singer tap marks rows that are gone. It numbers the rows of a day: those beyond the listed number are gone, too. #}
{% macro rows_of_singer(table) -%}
  {%- if table == 'changes' -%} {{ source('export_api', table) }}
  {%- elif table == 'brands' -%} (select * from {{ source('export_api', table) }} where _sdc_deleted_at is null)
  {%- else -%}
  (
    select stored.*
    from {{ source('export_api', table) }} as stored
    join {{ source('export_api', 'changes') }} as listed
      on listed.brand_id = stored.brand_id
      and listed.endpoint = '{{ table | replace('_', '-') }}'
      and listed.date = stored.date
    where stored._sdc_deleted_at is null and stored.day_row <= listed.rows
  )
  {%- endif -%}
{%- endmacro %}
