import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import type { DemoDay } from './days.ts'
import { MARKETS, MODELS } from './models-and-markets.ts'
import { randomFraction, timeOrderedId } from './random.ts'

/**
 * Creates the temporary table `demo_run`, which the inserts read: one run per prompt, model, market and day, of which
 * each brand keeps its sampling share. A run's random bytes are the md5 of its keys.
 */
export async function createRuns(client: Client, days: readonly DemoDay[]): Promise<void> {
  await client.query(
    `create temporary table demo_run (
       id uuid, brand_id uuid, prompt_id uuid, model_id text, market_id uuid, day date, answered_at timestamptz,
       error text, branded boolean, prompt_bias float8, bias float8, trend float8, variation float8, launch float8,
       phrases text, citation_count integer, random_bytes bytea
     ) on commit drop`,
  )
  await client.query(RUNS, [
    JSON.stringify(PROMPTS),
    JSON.stringify(MODELS),
    JSON.stringify(MARKETS),
    JSON.stringify(days),
  ])
  // A user may have deleted prompts.
  await client.query('delete from demo_run where prompt_id not in (select id from prompts)')
}

/** Inserts the answers of the runs. */
export async function insertAnswers(client: Client): Promise<void> {
  await client.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at, error)
     select id, prompt_id, model_id, market_id, answered_at, error from demo_run`,
  )
}

const PROMPTS = BRANDS.flatMap(({ id, sampling, sentiment, prompts }) =>
  prompts.map((prompt, index) => ({
    id: prompt.id,
    brand_id: id,
    sampling,
    has_gaps: sentiment.hasGaps,
    branded: prompt.branded ?? false,
    retired_at: prompt.retiredAt ?? null,
    // Some prompts lead to more brand names than others.
    prompt_bias: (((index * 3) % 5) - 2) * 0.045,
  })),
)

/** Time of day in milliseconds, from three random bytes. */
const TIME_OF_DAY = `interval '1 millisecond' * (86400000::bigint
  * (get_byte(random_bytes, 2) * 65536 + get_byte(random_bytes, 3) * 256 + get_byte(random_bytes, 4)) / 16777216)`

/** Answers whose stream ended early have names and citations. Answers with the other errors have none. */
const ERROR = `case
  when get_byte(random_bytes, 5) >= 2 or get_byte(random_bytes, 6) >= 250 then null
  when get_byte(random_bytes, 6) < 60 then 'stream ended early'
  when get_byte(random_bytes, 6) < 170 then 'timeout'
  else 'rate limited by provider' end`

const RUNS = `
  insert into demo_run
  select ${timeOrderedId('answered_at', 'hash')}, brand_id, prompt_id, model_id, market_id, day, answered_at, ${ERROR},
    branded, prompt_bias, bias, trend, variation, launch, phrases,
    floor(citation_count * (0.4 + 1.0 * ${randomFraction('random_bytes', 4)}))::integer, decode(md5(hash), 'hex')
  from (
    select *, (day::timestamp at time zone 'UTC') + ${TIME_OF_DAY} as answered_at
    from (
      select *, decode(hash, 'hex') as random_bytes
      from (
        select md5(p.id::text || m.id || k.id::text || d.day) as hash, p.brand_id, p.id as prompt_id,
          m.id as model_id, k.id as market_id, d.day::date, p.sampling, p.retired_at, p.branded, p.prompt_bias,
          m.bias + k.bias as bias, d.trend, d.variation, d.launch,
          case when p.has_gaps then d.phrases else 'all' end as phrases, m.citation_count
        from jsonb_to_recordset($1) as p(id uuid, brand_id uuid, sampling float8, has_gaps boolean, branded boolean,
            retired_at timestamptz, prompt_bias float8),
          jsonb_to_recordset($2) as m(id text, bias float8, citation_count integer),
          jsonb_to_recordset($3) as k(id uuid, bias float8),
          jsonb_to_recordset($4) as d(day text, trend float8, variation float8, launch float8, phrases text)
        offset 0 -- prevents inlining, so that md5 runs once per run
      ) hashed
      offset 0
    ) with_bytes
    where ${randomFraction('random_bytes', 0)} < sampling
  ) with_time
  where retired_at is null or answered_at < retired_at
  order by answered_at`
