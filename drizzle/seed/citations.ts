import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { hashOf, randomFraction, relation, timeOrderedId } from './runs.ts'

/** How many days after an answer its last citations are recorded. A minute of delay can cross another midnight. */
export const LATEST_DAYS = 4

/** Days (YYYY-MM-DD, UTC), inclusive. */
type Period = { readonly first: string; readonly last: string }

/** Inserts the citations of the runs' answers that are recorded in a period. */
export async function insertCitations(client: Client, { first, last }: Period): Promise<void> {
  await client.query(CITATIONS, [first, last])
}

const OWNED_PATHS = ['/products/*', '/guides/*', '/help/*', '/de/ratgeber/*', '/ja/guides/*']
const EARNED_PATHS = [
  '/reviews/*',
  '/*/test?sort=rating',
  '/questions/*#answer',
  '/wiki/%E6%AF%94%E8%BC%83/*',
]

/** Answers cite 70 pages of the brand, and 900 of other sites, each about a prompt. */
const SITES = BRANDS.flatMap(({ id, domain, prompts, sites }) => {
  const topics = prompts.map(({ text }) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\d]+/gu, '-')
      .replace(/-$/, ''),
  )
  const hosts = [...sites.map((name) => `${name}.example`), 'encyclopedia.example', '203.0.113.20']
  return [
    { brand_id: id, is_owned: true, pages: 70, hosts: [`www.${domain}`], paths: OWNED_PATHS, topics },
    { brand_id: id, is_owned: false, pages: 900, hosts, paths: EARNED_PATHS, topics, sponsored: hosts[0] },
  ]
})

const SITE = `brand_id uuid, is_owned boolean, pages integer, hosts text[], paths text[], topics text[], sponsored text`

/** Most citations are recorded within a minute. One in 32 is recorded one to three days late. */
const RECORDED_AT = `answered_at + interval '1 second' * (2 + get_byte(bytes, 8) % 58)
  + case when get_byte(bytes, 9) < 8 then interval '1 day' * (1 + get_byte(bytes, 10) % 3) else interval '0' end`

/** The brand owns the sponsored domain from noon in the middle of each quarter to the quarter's end. */
const IS_SPONSORED = `host = sponsored and (recorded_at at time zone 'UTC')
  >= date_trunc('quarter', recorded_at at time zone 'UTC') + interval '43 days 12 hours'`

/** SQL for the element of an array at a number, from the start again after its end. */
const elementOf = (array: string, n: string): string => `${array}[1 + (${n}) % cardinality(${array})]`

/** Each run's citations. Some runs cite the first page again at the end. A user may have deleted the answers. */
const CITED = `
  select *, ${RECORDED_AT} as recorded_at,
    ${randomFraction(0)} < 0.13 + 0.14 * trend + variation as is_owned,
    -- squared, so that a few pages are cited daily and most pages rarely
    power(${randomFraction(1)}, 2) as depth
  from demo_run r
  cross join generate_series(1, citations + repeats) n
  cross join ${hashOf('r.id::text || n % greatest(citations, 1)')}
  where (error is null or error = 'stream ended early') and r.id in (select id from answers)`

const PAGES = `
  select *, floor(depth * pages)::integer as page
  from (${CITED}) c
  join ${relation('s', SITES, SITE)} using (brand_id, is_owned)`

const CITATIONS = `
  insert into citations (id, answer_id, url, domain, owned, recorded_at)
  select ${timeOrderedId('answered_at', 'md5(hash || n)')}, id,
    'https://' || host || replace(path, '*', topic || case when page < 200 then '' else '-' || page end),
    case when get_byte(bytes, 11) >= 4 and host !~ '^[0-9.]+$' then regexp_replace(host, '^www\\.', '') end,
    is_owned or coalesce(${IS_SPONSORED}, false), recorded_at
  from (
    select *, ${elementOf('hosts', 'page')} as host, ${elementOf('topics', 'page * 7')} as topic,
      ${elementOf('paths', 'page / cardinality(hosts)')} as path
    from (${PAGES}) p
  ) located
  where recorded_at >= $1::date::timestamp at time zone 'UTC'
    and recorded_at < ($2::date + 1)::timestamp at time zone 'UTC'
  -- late citations of days that were added out of order
  on conflict do nothing`
