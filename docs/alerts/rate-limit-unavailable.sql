select count(*) as requests, min(time) as first, max(time) as last, any_value(error_name) as error_name from lines
where event = 'rate_limit_unavailable' and age < interval 3 minutes
having count(distinct date_trunc('minute', time)) >= 3;
