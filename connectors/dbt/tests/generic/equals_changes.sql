{# Returns the days of an endpoint whose rows or totals differ from those that /changes lists. An exact copy has none. #}
{% test equals_changes(model, endpoint, totals) %}
select
  coalesce(listed.brand_id, copied.brand_id) as brand_id,
  coalesce(listed.date, copied.date) as date,
  listed.rows as listed_rows,
  copied.rows as copied_rows
from (select * from {{ ref('exact_changes') }} where endpoint = '{{ endpoint }}') as listed
full join (
  select
    brand_id,
    date,
    {%- for column in totals %}
    sum({{ column }}) as {{ column }},
    {%- endfor %}
    count(*) as rows
  from {{ model }}
  group by brand_id, date
) as copied on copied.brand_id = listed.brand_id and copied.date = listed.date
where listed.rows is null
  or listed.rows <> coalesce(copied.rows, 0)
  {%- for column in totals %}
  or cast(cast(listed.totals as json) ->> '{{ column }}' as decimal(18, 4)) <> coalesce(copied.{{ column }}, 0)
  {%- endfor %}
{% endtest %}
