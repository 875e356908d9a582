import { sql } from 'drizzle-orm'
import type pg from 'pg'
import { sqlState } from '../../drizzle/db/sql-state.ts'
import { metricsOf } from '../../drizzle/db/verify.ts'
import { renderStatement } from '../../lib/database/statement.ts'
import { asOf } from '../../lib/refresh/as-of.ts'

/** The rows of each brand, metric and day, as text. */
type Days = ReadonlyMap<string, string>

/** The views' rows after a commit, null when a lock hid them, and a time at which the commit was acknowledged. */
type State = { readonly at: number; readonly days: Days | null }

/** Microseconds, which a number holds exactly. */
const micros = (time: string): string => `(extract(epoch from ${time}) * 1000000)::text`

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Compares the stored rows of brands with what the views held after each commit. The client must not be in a
 * transaction.
 */
export async function checkAsOf(client: pg.Client, brands: readonly string[]) {
  const metrics = await metricsOf(client)
  const daysOf = (schema: string) =>
    metrics
      .map(
        (metric) =>
          `select brand_id, '${metric} ' || date as day, jsonb_agg(to_jsonb(its) order by to_jsonb(its))::text as rows
           from ${schema}.${metric} as its group by brand_id, date`,
      )
      .join(' union all ')
  // One statement reads as_of and rows in one snapshot.
  const stored = {
    name: 'stored',
    text: `select brand.id, ${micros(renderStatement(asOf(sql.raw('brand.id'))).sql)} as as_of,
        (select coalesce(json_object_agg(id || ' ' || day, rows), '{}') from (${daysOf('daily')}) as stored where brand_id = id) as days
      from unnest($1::uuid[]) as brand (id)`,
  }
  const states: State[] = []
  const latest = new Map<string, number>()

  async function viewed(): Promise<Days | null> {
    try {
      const { rows } = await client.query<{ key: string; rows: string }>({
        name: 'viewed',
        text: `select brand_id || ' ' || day as key, rows from (${daysOf('metrics')}) as viewed`,
      })
      return new Map(rows.map(({ key, rows }) => [key, rows]))
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return null
      throw error
    }
  }

  async function read() {
    const { rows } = await client.query<{ id: string; as_of: string; days: Record<string, string> }>({
      ...stored,
      values: [brands],
    })
    return rows.map(({ id, as_of, days }) => ({
      id,
      asOf: Number(as_of),
      days: new Map(Object.entries(days)),
    }))
  }

  await client.query(`set lock_timeout = '100ms'`)
  return {
    /** Records the views' rows. Call it after each acknowledged commit; `unseen` commits came just before. */
    async record(unseen = 0) {
      const { rows } = await client.query(`select ${micros('clock_timestamp()')} as at`)
      const at = Number(rows[0].at)
      if (unseen > 0) states.push({ at, days: null })
      states.push({ at, days: await viewed() })
    },
    /**
     * Returns the days whose stored rows the views held at no time since the last commit before the brand's as_of, and
     * the brands whose as_of went back.
     */
    async violations() {
      return (await read()).flatMap(({ id, asOf, days }) => {
        const before = latest.get(id) ?? asOf
        latest.set(id, asOf)
        const backwards = asOf < before ? [`as_of of ${id} went back from ${before} to ${asOf}`] : []
        const since = Math.max(
          states.findLastIndex(({ at }) => at < asOf),
          0,
        )
        return [...backwards, ...unexplained(id, days, states.slice(since))]
      })
    },
    /** Returns the brands whose as_of is before the last commit. */
    async behind() {
      const last = states.at(-1)?.at ?? 0
      return (await read()).flatMap(({ id, asOf }) =>
        asOf > last ? [] : [`as_of of ${id} is ${asOf}, before ${last}`],
      )
    },
  }
}

/** Days of a brand whose stored rows are those of none of the states. */
function unexplained(brand: string, stored: Days, states: readonly State[]): string[] {
  if (states.some(({ days }) => days === null)) return []
  const known = states.flatMap(({ days }) => days ?? [])
  const keys = new Set([stored, ...known].flatMap((days) => [...days.keys()]))
  return [...keys]
    .filter((key) => key.startsWith(brand) && known.every((days) => days.get(key) !== stored.get(key)))
    .map(
      (key) =>
        `${key} is ${stored.get(key)}, but since its as_of ${known.map((days) => days.get(key)).join(' or ')}`,
    )
}
