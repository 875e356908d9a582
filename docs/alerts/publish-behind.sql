select count(*) as runs, min(time) as first, max(time) as last from (
  select time, age from lines where event = 'publish_behind'
  union all
  select time, age from invocations where worker = 'export-api-share-publish' and outcome <> 'ok'
)
where age < interval 20 minutes
having count(*) >= 3;
