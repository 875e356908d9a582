{# Returns the days of an endpoint whose rows are not those that `/days` sent. An exact copy has none. #}
{% test equals_days(model, endpoint, columns) %}
select
  coalesce(sent.brand_id, copied.brand_id) as brand_id,
  coalesce(sent.date, copied.date) as date,
  sent.row_count,
  copied.row_count as copied_row_count,
  sent.digest,
  copied.digest as copied_digest
from (select * from {{ ref('export_api__days') }} where endpoint = '{{ endpoint }}') as sent
full join (
  select brand_id, date, count(*) as row_count, {{ export_api.digest(columns) }} as digest
  from {{ model }}
  group by brand_id, date
) as copied on copied.brand_id = sent.brand_id and copied.date = sent.date
where sent.row_count is distinct from coalesce(copied.row_count, 0)
  or sent.digest is distinct from coalesce(copied.digest, '000000000000000')
{% endtest %}
