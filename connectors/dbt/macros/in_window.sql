{# True for the days of the window that the variables name; both ends are included. #}
{% macro in_window() -%}
  {%- set from_date, to_date = var('export_api_from_date', none), var('export_api_to_date', none) -%}
  true
  {%- if from_date %} and date >= cast('{{ from_date }}' as date){% endif -%}
  {%- if to_date %} and date <= cast('{{ to_date }}' as date){% endif -%}
{%- endmacro %}
