import { type SQL, sql } from 'drizzle-orm'

/** SQL of the time before which every commit is in a brand's stored rows; -infinity before the first refresh. */
export const asOf = (brand: SQL): SQL =>
  sql`least((select as_of from daily.progress), (select as_of from daily.queued_brands where brand_id = ${brand}))`

/** SQL of the same for the brands of a relation: the least of theirs. */
export const asOfEach = (brands: SQL): SQL =>
  sql`least((select as_of from daily.progress), (select min(${asOf(sql`brand.brand_id`)}) from ${brands} as brand))`

/** SQL of the same for all brands: the least of theirs. */
export const AS_OF_ALL: SQL = sql`least((select as_of from daily.progress), (select min(as_of) from daily.queued_brands))`

/** SQL of a time in the form of responses; null for -infinity. */
export const instant = (time: SQL): SQL =>
  sql`to_char(nullif(${time}, '-infinity') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
