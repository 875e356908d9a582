select brand_id, metric, date, count(*) as failures, max(time) as last, any_value(code) as code from lines
where event = 'day_failed' and age < interval 130 minutes
group by brand_id, metric, date
having count(*) > 1;
