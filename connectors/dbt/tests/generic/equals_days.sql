{# Returns the days of an endpoint whose rows are not those that /changes lists. An exact copy has none. #}
{% test equals_changes(model, endpoint, columns) %}
select
  coalesce(listed.brand_id, copied.brand_id) as brand_id,
  coalesce(listed.date, copied.date) as date,
  listed.rows as listed_rows,
  copied.rows as copied_rows,
  listed.digest as listed_digest,
  copied.digest as copied_digest
from (select * from {{ ref('export_api__changes') }} where endpoint = '{{ endpoint }}') as listed
full join (
  select brand_id, date, count(*) as rows, {{ export_api.digest(columns) }} as digest
  from {{ model }}
  group by brand_id, date
) as copied on copied.brand_id = listed.brand_id and copied.date = listed.date
where listed.rows is distinct from coalesce(copied.rows, 0)
  or listed.digest is distinct from coalesce(copied.digest, '000000000000000')
{% endtest %}
