import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { insertRows } from './insert-rows.ts'
import { EARNED_PAGES, OWNED_PAGES, pages } from './pages.ts'
import { randomFraction, timeOrderedId } from './random.ts'

/** How many days after an answer its last citations are recorded. A minute of delay can cross another midnight. */
export const LATEST_DAYS = 4

/** The days (YYYY-MM-DD, UTC) on which citations are recorded. Without `first`, all through `last`. */
export type Recorded = { readonly first?: string; readonly last: string }

/** Inserts the citations that each run makes of its brand's pages and that are recorded in a period. */
export async function insertCitations(
  client: Client,
  { first = '-infinity', last }: Recorded,
): Promise<void> {
  await client.query(
    `create temporary table demo_page (
       brand_id uuid, owned boolean, rank integer, url text, domain text, sponsored boolean
     ) on commit drop`,
  )
  const rows = BRANDS.flatMap((brand) => pages(brand).map((page) => ({ ...page, brand_id: brand.id })))
  await insertRows(client, 'demo_page', rows)
  await client.query(CITATIONS, [first, last])
}

/** Most citations are recorded within a minute. One in 32 is recorded one to three days late. */
const DELAY = `case when get_byte(random_bytes, 4) < 8 then interval '1 day' * (1 + get_byte(random_bytes, 5) % 3) else interval '0' end
  + interval '1 second' * (2 + get_byte(random_bytes, 6) % 58)`

/** The brand owns the sponsored domain from noon in the middle of each quarter to the quarter's end. */
const SPONSORSHIP = `(recorded_at at time zone 'UTC')
  >= date_trunc('quarter', recorded_at at time zone 'UTC') + interval '43 days 12 hours'`

const CITATIONS = `
  insert into citations (id, answer_id, url, domain, owned, recorded_at)
  select ${timeOrderedId('c.answered_at', 'c.hash')}, c.answer_id, p.url, case when get_byte(c.random_bytes, 7) < 4 then null else p.domain end,
    p.owned or (p.sponsored and ${SPONSORSHIP}), c.recorded_at
  from (
    select *, answered_at + ${DELAY} as recorded_at,
      ${randomFraction('page_bytes', 0)} < 0.13 + 0.14 * trend + 0.06 * launch + variation as owned,
      -- squared, so that a few pages are cited daily and most pages rarely
      ${randomFraction('page_bytes', 1)} * ${randomFraction('page_bytes', 1)} as depth
    from (
      select *, decode(hash, 'hex') as random_bytes,
        -- one answer in twenty cites its first page again at the end
        decode(case when n = citation_count and n > 1 and get_byte(run_bytes, 15) < 13 then md5(answer_id::text || 1) else hash end,
          'hex') as page_bytes
      from (
        select md5(r.id::text || n) as hash, r.id as answer_id, r.brand_id, r.answered_at, r.citation_count, n,
          r.random_bytes as run_bytes, r.trend, r.launch, r.variation
        from demo_run r
        cross join lateral generate_series(1, r.citation_count) n
        where r.error is null or r.error = 'stream ended early'
        offset 0 -- prevents inlining, so that md5 runs once per citation
      ) hashed
      offset 0
    ) with_bytes
  ) c
  join demo_page p on p.brand_id = c.brand_id and p.owned = c.owned
    and p.rank = floor(c.depth * case when c.owned then ${OWNED_PAGES} else ${EARNED_PAGES} end)::integer
  where c.recorded_at >= $1::date::timestamp at time zone 'UTC'
    and c.recorded_at < ($2::date + 1)::timestamp at time zone 'UTC'`
