{# Return a query: the figure `rate` of a metric by month, or over the window, for each brand and value of `by`, after the sums that it divides. #}
{% macro monthly(metric, rate, sums, by) -%}
select
  brand_id,
  cast({{ dbt.date_trunc('month', 'date') }} as date) as month
  {{- export_api.figure(rate, sums, by) }}
from {{ ref('export_api__' ~ metric) }}
group by brand_id, month{% for column in by %}, {{ column }}{% endfor %}
{%- endmacro %}

{% macro window(metric, rate, sums, by) -%}
{%- set from_date, to_date = var('export_api_from_date', none), var('export_api_to_date', none) -%}
select
  brand_id,
  min(date) as first_date,
  max(date) as last_date
  {{- export_api.figure(rate, sums, by) }}
from {{ ref('export_api__' ~ metric) }}
where true
  {%- if from_date %} and date >= cast('{{ from_date }}' as date){% endif -%}
  {%- if to_date %} and date <= cast('{{ to_date }}' as date){% endif %}
group by brand_id{% for column in by %}, {{ column }}{% endfor %}
{%- endmacro %}

{% macro figure(rate, sums, by) -%}
  {%- for column in by %},
  {{ column }}
  {%- endfor %}
  {%- for column in sums %},
  sum({{ column }}) as {{ column }}
  {%- endfor %},
  {{ export_api[rate]() }} as {{ rate }}
{%- endmacro %}
