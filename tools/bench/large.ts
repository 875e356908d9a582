import type { ClientBase } from 'pg'
import { LAST_DAY } from './volume.ts'

/** Days of the large tables: the longest window that a year of history has. */
export const DAYS = 365

/** The tables that are compared: schema, share of the brands, and whether there is a partition a month. */
export const TABLES = [
  { schema: 'small', share: 1 / 20, partitioned: false },
  { schema: 'daily', share: 1, partitioned: false },
  { schema: 'monthly', share: 1, partitioned: true },
] as const

export type Large = (typeof TABLES)[number]

/** Rows of one brand on one day. */
export const ROWS_A_DAY = 550

/** Makes the tables beside the service's own, without indexes; they are vacuumed once, when they are full. */
export async function makeTables(client: ClientBase): Promise<void> {
  await client.query(`create schema small; create schema monthly;
    alter table daily.citation_share drop constraint citation_share_brand_id_date_url_key_pk;
    alter table daily.citation_share set (autovacuum_enabled = false);
    create table small.citation_share (like daily.citation_share including generated) with (autovacuum_enabled = false);
    create table monthly.citation_share (like daily.citation_share including generated) partition by range (date)`)
  await client.query(`do $$
    declare
      month date := date_trunc('month', date '${LAST_DAY}' - ${DAYS});
    begin
      while month <= '${LAST_DAY}' loop
        execute format('create table monthly.%I partition of monthly.citation_share for values from (%L) to (%L) with (autovacuum_enabled = false)',
          'citation_share_' || to_char(month, 'YYYY_MM'), month, (month + interval '1 month')::date);
        month := month + interval '1 month';
      end loop;
    end $$`)
}

/** Fills the tables day by day, as refreshes do, with a year of each brand; then builds their indexes. */
export async function fillTables(client: ClientBase, brandIds: readonly string[]): Promise<void> {
  await client.query(
    `create unlogged table cited as
     select brand_id, ordinal, md5(brand_id || ' ' || u)::uuid as url_hash,
       'https://www.site-' || u % 97 || '.example/articles/' || md5(u::text) as url, 'site-' || u % 97 || '.example' as domain, u
     from unnest($1::uuid[]) with ordinality as brand(brand_id, ordinal), generate_series(1, ${ROWS_A_DAY}) as u`,
    [brandIds],
  )
  for (const { schema, share } of TABLES) {
    for (let day = DAYS - 1; day >= 0; day -= 1) {
      await client.query(
        `insert into ${schema}.citation_share
         select brand_id, date '${LAST_DAY}' - $1::int, url_hash, url, domain, u % 97 = 0, u % 40, case when u % 97 = 0 then u % 40 else 0 end
         from cited where ordinal <= $2`,
        [day, Math.max(1, Math.round(brandIds.length * share))],
      )
    }
  }
  await client.query(`set maintenance_work_mem = '512MB'`)
  for (const { schema } of TABLES) {
    await client.query(
      `alter table ${schema}.citation_share add constraint citation_share_brand_id_date_url_key_pk primary key (brand_id, date, url_hash)`,
    )
  }
  await client.query('vacuum analyze')
}

/** Computes one day of one brand anew where every row differs, as a refresh does, and takes it back. */
export async function rewriteDay(
  client: ClientBase,
  { schema, brandId, day }: { schema: string; brandId: string; day: string },
): Promise<void> {
  await client.query(
    `insert into ${schema}.citation_share
     select brand_id, $2, url_hash, url, domain, false, 7, 0 from cited where brand_id = $1
     on conflict (brand_id, date, url_hash) do update
     set url = excluded.url, domain = excluded.domain, is_owned = excluded.is_owned,
       citations = excluded.citations, owned_citations = excluded.owned_citations`,
    [brandId, day],
  )
}
