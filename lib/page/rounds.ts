import { type SQL, sql } from 'drizzle-orm'
import type { PagedRows } from './keyset.ts'
import { changedUntil, rowsOfEach } from './rows-of-brands.ts'
import { list } from './sized-rows.ts'

// No index has the rows of a key's brands in the order of their changes. Rounds look for a bound, the last row of any page's
// worth of rows, and each reads nothing after the one before (docs/architecture.md, Changes of all brands).

/** How many brands, the first in the order of their first rows, each of the first rounds reads. */
const FIRST_BRANDS = [3, 12, 50, 200]

/** Number of rounds. The last two read all brands, the last of them more of those that had more rows than the other read. */
const ROUNDS = FIRST_BRANDS.length + 2

/** Rows that a round reads at most, as a multiple of the page's. */
const ROUND_SIZE = 1.2

const number = (value: number): SQL => sql.raw(String(value))

/** The columns of a bound, in which it is ordered. */
const BOUND = sql`changed_at, brand_id`

/** SQL of the name of a relation of a round. Round 0 has a bound alone. */
const named = (relation: 'bound' | 'end' | 'limit' | 'rows', round: number): SQL =>
  sql`${sql.identifier(`${relation}_${round}`)}`

/** SQL of the first row of the brand after the first `brands`. */
const firstOf = (brands: number): SQL => sql`select ${BOUND} from changed where place = ${number(brands + 1)}`

type Round = { readonly from: SQL; readonly round: number; readonly size: number }

/** SQL of the relations of a round, which finds a bound or keeps the one that was found before. */
function roundOf(rows: PagedRows, { from, round, size }: Round): SQL {
  const found = named('bound', round - 1)
  const brands = FIRST_BRANDS[round - 1]
  const more = sql`(
        select from ${named('rows', round - 1)} group by brand_id
        having count(*) = (select rows from ${named('limit', round - 1)})
      ) as brand`
  const counted = round === ROUNDS ? more : sql`${changedUntil(found)}`
  const limit =
    brands === undefined
      ? sql`select ceil(${number(size * ROUND_SIZE)}::float8 / greatest(count(*), 1))::int as rows from ${counted}`
      : sql`select ${number(Math.ceil((size * ROUND_SIZE) / brands))} as rows`
  const next = brands === undefined ? sql`` : sql`union all ${firstOf(brands)} order by ${BOUND} limit 1`
  const read = sql`(select * from ${changedUntil(found)}${brands === undefined ? sql`` : sql` and place <= ${number(brands)}`})`
  const reading = {
    from,
    columns: BOUND,
    bound: named('end', round),
    limit: sql`(select rows from ${named('limit', round)})`,
  }
  return sql`
    ${named('end', round)} as materialized (select ${BOUND} from ${found} ${next}),
    ${named('limit', round)} as materialized (${limit}),
    ${named('rows', round)} as materialized (
      select page.changed_at, page.brand_id
      ${rowsOfEach(read, rows, reading)}
    ),
    ${named('bound', round)} as materialized (
      (select ${BOUND} from ${named('rows', round)} order by ${BOUND} limit 1 offset ${number(size)})
      union all select ${BOUND} from ${found} order by ${BOUND} limit 1
    )`
}

/** SQL of the relation with the last row that a page can hold, which need not have one. {@link rounds} defines it. */
export const BOUND_OF_PAGE: SQL = named('bound', ROUNDS)

/** SQL of the relations that find the bound of a page of `size` rows among those of the brands of `changed`. */
export const rounds = (rows: PagedRows, { from, size }: Omit<Round, 'round'>): SQL =>
  list([
    sql`${named('bound', 0)} as materialized (${firstOf(size)})`,
    ...Array.from({ length: ROUNDS }, (_, index) => roundOf(rows, { from, round: index + 1, size })),
  ])
