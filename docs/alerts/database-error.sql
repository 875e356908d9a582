select count(*) as errors, min(time) as first, max(time) as last,
  any_value(source) as source, any_value(code) as code, any_value(reason) as reason
from lines
where event = 'database_error' and age < interval 3 minutes
having count(distinct date_trunc('minute', time)) >= 3;
