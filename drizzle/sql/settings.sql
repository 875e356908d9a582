-- Pages of 1000 rows are read by index, from memory or flash. With Postgres's default, which is for spinning disks,
-- the planner sorts a brand with tens of thousands of rows for each page instead.
do $$
begin
  execute format('alter database %I set random_page_cost = 1.1', current_database());
exception when insufficient_privilege then
  raise notice 'random_page_cost stays as it is: only the owner of the database can set it to 1.1';
end
$$;
