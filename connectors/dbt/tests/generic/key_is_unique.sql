{# Returns the keys of several rows. #}
{% test key_is_unique(model, key) %}
select {{ key | join(', ') }}, count(*) as rows_of_key
from {{ model }}
group by {{ key | join(', ') }}
having count(*) > 1
{% endtest %}
