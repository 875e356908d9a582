select max(lag_s) as lag_s, min(time) as first, max(time) as last, any_value(remedy) as remedy from lines
where event = 'refresh_behind' and age < interval 10 minutes
having count(distinct date_trunc('minute', time)) >= 5;
