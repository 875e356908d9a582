select time, outcome from invocations
where worker = 'export-api-refresh' and outcome <> 'ok' and age < interval 10 minutes;
