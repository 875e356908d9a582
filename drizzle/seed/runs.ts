import { type Client, escapeLiteral } from 'pg'
import { BRANDS } from './brands.ts'
import { MARKETS, MODELS } from './models-and-markets.ts'

/**
 * Creates the temporary table `demo_run`, which the inserts read: one run per prompt, model, market and day, of which
 * each brand keeps its sampling share. A run depends on its own date only, not on when the seed runs.
 */
export async function createRuns(client: Client, days: readonly string[]): Promise<void> {
  await client.query(`
    create temporary table demo_run on commit drop as
    select ${timeOrderedId('answered_at', 'hash')} as id, brand_id, prompt_id, model_id, market_id, day, answered_at,
      ${ERROR} as error, branded, bias, ${TREND} as trend, ${VARIATION} as variation, ${PHRASES} as phrases,
      floor(citations * (0.4 + ${randomFraction(3)}))::integer as citations, (${randomFraction(4)} < 0.05)::integer as repeats,
      ${randomFraction(5)} < 0.17 as has_verdict
    from (${runsOf(days)}) run
    where ${randomFraction(0)} < sampling and (retired_at is null or answered_at < retired_at)
    order by answered_at`)
}

/** SQL for a relation of rows, whose fields have types. */
export const relation = (name: string, rows: readonly object[], types: string): string =>
  `jsonb_to_recordset(${escapeLiteral(JSON.stringify(rows))}) as ${name}(${types})`

/**
 * SQL for a relation with the md5 of a text as `hash`, and as `bytes`. `offset 0` prevents inlining, so that md5 runs
 * once per row.
 */
export const hashOf = (text: string): string =>
  `lateral (select hash, decode(hash, 'hex') as bytes from (select md5(${text}) as hash offset 0) h offset 0) hashed`

/**
 * SQL for the nth of eight random numbers from 0 to 1 in the 16 `bytes` of a hash.
 *
 * The bytes of an md5 give the same rows on every server and in every run, unlike random().
 */
export const randomFraction = (n: number): string =>
  `((get_byte(bytes, ${2 * n}) * 256 + get_byte(bytes, ${2 * n + 1})) / 65536::float8)`

/** SQL for a UUID that starts with the seconds of a time, so that rows of the same time are adjacent in indexes. */
export const timeOrderedId = (time: string, hash: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${time}))::bigint), 8, '0') || substr(${hash}, 9))::uuid`

/** Position in a cycle of 300 days, in which brands rise or fall for 210. Any 120 days show a trend. */
const TREND = 'least(cycle_day / 210.0, (300 - cycle_day) / 90.0)'

/** Effect of the weekday, from Monday to Sunday, with noise of the day. */
const VARIATION = `(array[0.012, 0.018, 0.014, 0.006, -0.006, -0.026, -0.018])[extract(isodow from day)::integer]
  + (get_byte(decode(md5(day::text), 'hex'), 0) / 255.0 - 0.5) * 0.03`

/** Answers whose stream ended early have names and citations. Answers with the other errors have none. */
const ERROR = `case
  when ${randomFraction(2)} < 0.002 then 'stream ended early'
  when ${randomFraction(2)} < 0.005 then 'timeout'
  when ${randomFraction(2)} < 0.008 then 'rate limited by provider' end`

/** Brands with gaps have neutral phrases only on some days, and none (`silent`) on others. */
const PHRASES = `case
  when has_gaps and cycle_day % 17 = 3 then 'silent' when has_gaps and cycle_day % 13 = 5 then 'neutral' else 'all' end`

const SAMPLING = BRANDS.map(({ id, sampling = 1, hasGaps = false }) => ({
  id,
  sampling,
  has_gaps: hasGaps,
}))

// The prompts are those of the table: a user may have deleted some.
const runsOf = (days: readonly string[]) => `
  select p.id as prompt_id, p.brand_id, p.branded, p.retired_at, b.sampling, b.has_gaps, m.id as model_id, m.citations,
    k.id as market_id, m.bias + k.bias as bias, d.day, hash, bytes,
    ((d.day - '2026-06-01') % 300 + 300) % 300 as cycle_day,
    (d.day + interval '1 day' * ${randomFraction(1)}) at time zone 'UTC' as answered_at
  from prompts p
  join ${relation('b', SAMPLING, 'id uuid, sampling float8, has_gaps boolean')} on b.id = p.brand_id
  cross join ${relation('m', MODELS, 'id text, bias float8, citations integer')}
  cross join ${relation('k', MARKETS, 'id uuid, bias float8')}
  cross join unnest(array[${days.map(escapeLiteral)}]::date[]) as d(day)
  cross join ${hashOf('p.id::text || m.id || k.id || d.day')}`
