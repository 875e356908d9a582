select max(time) as last, tables from lines
where event = 'tables_untracked' and age < interval 10 minutes
group by tables;
