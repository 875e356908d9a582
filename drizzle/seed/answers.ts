import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import type { DemoDay } from './calendar.ts'
import { MARKETS, MODELS } from './catalogue.ts'
import { draw, timedId } from './draw.ts'

/**
 * Runs every prompt on every model and market on every day, less what the brand's sampling leaves out.
 *
 * A run's dice are the md5 of what makes it. The runs stay in a temporary table with what the rest of the seed
 * needs to know of them, and the answers are copied from it. Answers that a former seed made alike are left in
 * place: a delete would cascade answer by answer.
 */
export async function insertAnswers(client: Client, days: readonly DemoDay[]): Promise<void> {
  await client.query(
    `create temporary table demo_run (
       id uuid, brand_id uuid, prompt_id uuid, model_id text, market_id uuid, day date, answered_at timestamptz,
       error text, branded boolean, ease float8, lean float8, trend float8, ripple float8, launch float8,
       phrases text, cites integer, dice bytea
     ) on commit drop`,
  )
  await client.query(RUNS, [
    JSON.stringify(PROMPTS),
    JSON.stringify(MODELS),
    JSON.stringify(MARKETS),
    JSON.stringify(days),
  ])
  await client.query(
    `delete from answers using prompts
     where prompts.id = answers.prompt_id and prompts.brand_id = any($1)
       and answers.id not in (select id from demo_run)`,
    [BRANDS.map(({ id }) => id)],
  )
  await client.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at, error)
     select id, prompt_id, model_id, market_id, answered_at, error from demo_run
     on conflict (id) do update set prompt_id = excluded.prompt_id, model_id = excluded.model_id,
       market_id = excluded.market_id, answered_at = excluded.answered_at, error = excluded.error
     where answers is distinct from excluded`,
  )
}

const PROMPTS = BRANDS.flatMap(({ id, sampling, mood, prompts }) =>
  prompts.map((prompt, index) => ({
    id: prompt.id,
    brand_id: id,
    sampling,
    quiet: mood.quiet,
    branded: prompt.branded ?? false,
    retired_at: prompt.retiredAt ?? null,
    // Some questions invite brand names more than others.
    ease: (((index * 3) % 5) - 2) * 0.045,
  })),
)

/** Milliseconds of the day from three of the dice's bytes. */
const TIME_OF_DAY = `interval '1 millisecond' * (86400000::bigint
  * (get_byte(dice, 2) * 65536 + get_byte(dice, 3) * 256 + get_byte(dice, 4)) / 16777216)`

/** An answer that failed halfway keeps the names and citations it had given; the others' failures came first. */
const ERROR = `case
  when get_byte(dice, 5) >= 2 or get_byte(dice, 6) >= 250 then null
  when get_byte(dice, 6) < 60 then 'stream ended early'
  when get_byte(dice, 6) < 170 then 'timeout'
  else 'rate limited by provider' end`

const RUNS = `
  insert into demo_run
  select ${timedId('answered_at', 'hash')}, brand_id, prompt_id, model_id, market_id, day, answered_at, ${ERROR},
    branded, ease, lean, trend, ripple, launch, phrases,
    floor(cites * (0.4 + 1.0 * ${draw('dice', 4)}))::integer, decode(md5(hash), 'hex')
  from (
    select *, (day::timestamp at time zone 'UTC') + ${TIME_OF_DAY} as answered_at
    from (
      select *, decode(hash, 'hex') as dice
      from (
        select md5(p.id::text || m.id || k.id::text || d.day) as hash, p.brand_id, p.id as prompt_id,
          m.id as model_id, k.id as market_id, d.day::date, p.sampling, p.retired_at, p.branded, p.ease,
          m.lean + k.lean as lean, d.trend, d.ripple, d.launch,
          case when p.quiet then d.phrases else 'all' end as phrases, m.cites
        from jsonb_to_recordset($1) as p(id uuid, brand_id uuid, sampling float8, quiet boolean, branded boolean,
            retired_at timestamptz, ease float8),
          jsonb_to_recordset($2) as m(id text, lean float8, cites integer),
          jsonb_to_recordset($3) as k(id uuid, lean float8),
          jsonb_to_recordset($4) as d(day text, trend float8, ripple float8, launch float8, phrases text)
        offset 0 -- a fence: the md5 is taken once a run
      ) hashed
      offset 0
    ) diced
    where ${draw('dice', 0)} < sampling
  ) timed
  where retired_at is null or answered_at < retired_at
  order by answered_at`
