select count(*) as requests, max(time) as last from lines
where event = 'prepared_statement_missing' and age < interval 10 minutes
having count(*) > 0;
