{#
  Returns an aggregate: the digest of rows, as `/days` sends it (docs/specification.md, Digest). `columns` lists the
  endpoint's fields in their order, with the types of the exact models.
#}
{% macro digest(columns) -%}
  lower(lpad(to_hex(bit_xor({{ export_api.row_number(export_api.row_text(columns)) }})), 15, '0'))
{%- endmacro %}

{% macro row_text(columns) -%}
  concat_ws(chr(31)
  {%- for column in columns %}, coalesce({{ export_api.cell_text(column) }}, '\N'){% endfor %})
{%- endmacro %}

{% macro cell_text(column) -%}
  replace(replace(cast({{ column }} as {{ dbt.type_string() }}), '\', '\\'), chr(31), '\_')
{%- endmacro %}

{% macro row_number(text) %}{{ adapter.dispatch('row_number', 'export_api')(text) }}{% endmacro %}

{% macro duckdb__row_number(text) %}cast('0x' || left(md5({{ text }}), 15) as bigint){% endmacro %}

{% macro postgres__row_number(text) -%}
  cast(cast('x' || left(md5(convert_to({{ text }}, 'UTF8')), 15) as bit(60)) as bigint)
{%- endmacro %}
