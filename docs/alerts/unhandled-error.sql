select time, worker, error_name, message from lines
where event = 'unhandled_error' and age < interval 10 minutes;
