import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { draw, timedId } from './draw.ts'
import { EARNED_PAGES, OWNED_PAGES, pages } from './pages.ts'

/** Lets each run cite pages of its brand's pool, up to what was recorded by the end of `today`. */
export async function insertCitations(client: Client, today: string): Promise<void> {
  await client.query(
    `create temporary table demo_page (
       brand_id uuid, owned boolean, rank integer, url text, domain text, sponsored boolean
     ) on commit drop`,
  )
  await client.query(
    `insert into demo_page
     select brand_id, owned, rank, url, domain, sponsored
     from jsonb_to_recordset($1) as p(brand_id uuid, owned boolean, rank integer, url text, domain text,
       sponsored boolean)`,
    [
      JSON.stringify(
        BRANDS.flatMap((brand) => pages(brand).map((page) => ({ ...page, brand_id: brand.id }))),
      ),
    ],
  )
  await client.query(CITATIONS, [today])
}

/** Most are recorded within the minute; one in thirty-two one to three days later. */
const DELAY = `case when get_byte(dice, 4) < 8 then interval '1 day' * (1 + get_byte(dice, 5) % 3) else interval '0' end
  + interval '1 second' * (2 + get_byte(dice, 6) % 58)`

/** The magazine is the brand's own from the middle of each quarter, at noon, to the quarter's end. */
const SPONSORSHIP = `(recorded_at at time zone 'UTC')
  >= date_trunc('quarter', recorded_at at time zone 'UTC') + interval '43 days 12 hours'`

const CITATIONS = `
  insert into citations (id, answer_id, url, domain, owned, recorded_at)
  select ${timedId('c.answered_at', 'c.hash')}, c.answer_id, p.url, case when get_byte(c.dice, 7) < 4 then null else p.domain end,
    p.owned or (p.sponsored and ${SPONSORSHIP}), c.recorded_at
  from (
    select *, answered_at + ${DELAY} as recorded_at,
      ${draw('page_dice', 0)} < 0.13 + 0.14 * trend + 0.06 * launch + ripple as owned,
      -- squared, so that few pages are cited daily and most of them now and then
      ${draw('page_dice', 1)} * ${draw('page_dice', 1)} as depth
    from (
      select *, decode(hash, 'hex') as dice,
        -- one answer in twenty gives its first page again at the end
        decode(case when n = cites and n > 1 and get_byte(run_dice, 15) < 13 then md5(answer_id::text || 1) else hash end,
          'hex') as page_dice
      from (
        select md5(r.id::text || n) as hash, r.id as answer_id, r.brand_id, r.answered_at, r.cites, n,
          r.dice as run_dice, r.trend, r.launch, r.ripple
        from demo_run r
        cross join lateral generate_series(1, r.cites) n
        where r.error is null or r.error = 'stream ended early'
        offset 0 -- a fence: the md5 is taken once a citation
      ) hashed
      offset 0
    ) diced
  ) c
  join demo_page p on p.brand_id = c.brand_id and p.owned = c.owned
    and p.rank = floor(c.depth * case when c.owned then ${OWNED_PAGES} else ${EARNED_PAGES} end)::integer
  where c.recorded_at < ($1::date + 1)::timestamp at time zone 'UTC'`
