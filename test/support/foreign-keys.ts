import type pg from 'pg'

const change = (db: pg.Pool | pg.ClientBase, action: string): Promise<unknown> =>
  db.query(`do $$
    declare
      key record;
    begin
      for key in
        select conrelid::regclass as base, conname from pg_constraint
        where contype = 'f' and conrelid in (select base from daily.source_tables())
      loop
        execute format('alter table %s ${action}', key.base, key.conname);
      end loop;
    end
    $$`)

/** Lets the raw tables' foreign keys be checked at the end of each transaction, as Django does. */
export const deferForeignKeys = (db: pg.Pool | pg.ClientBase): Promise<unknown> =>
  change(db, 'alter constraint %I deferrable initially deferred')

/** Drops the raw tables' foreign keys. */
export const dropForeignKeys = (db: pg.Pool | pg.ClientBase): Promise<unknown> =>
  change(db, 'drop constraint %I')
