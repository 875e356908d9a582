import type { Client } from 'pg'
import { refreshAll } from '../db/refresh.ts'
import { demoId } from './ids.ts'

const HALDENPEAK = demoId('brand', 'haldenpeak')
const PROMPT = 'Which kettle keeps an exact temperature for tea?'
const COMPETITOR = 'Kitsune Home'
const ALIAS = 'Kitsune'

/**
 * Changes the past of the demo, an edit at a time, and yields a sentence about each after its days were recomputed: so each
 * day names the edit that changed it. `today` is YYYY-MM-DD (UTC). Repeated, it cites other answers late, and edits
 * again or undoes the rest. Skips an edit of what a user has deleted.
 */
export async function* restateDemo(client: Client, today: string): AsyncGenerator<string> {
  const edit = async (sql: string, values: readonly string[]) => {
    const { rows } = await client.query(sql, [...values])
    await refreshAll(client)
    return rows[0]
  }

  // They count today for /citations, and on the days of their answers for /citation-share.
  const late = await edit(
    `with counted as (
       select answers.id, day, row_number() over (partition by day order by answers.id) as place
       from answers join prompts on prompts.id = prompt_id
       cross join lateral (select (answered_at at time zone 'UTC')::date as day) as of
       where brand_id = $1 and day between $2::date - 6 and $2::date - 4
         and error is null and retired_at is null and counts_in_metrics
         and not exists (select from citations where answer_id = answers.id and url = $3)
     ), late as (
       insert into citations (answer_id, url, domain, owned, recorded_at)
       select id, $3, 'trailgazette.example', false, now() from counted where place <= 4
       returning answer_id
     )
     select count(*)::int as citations, string_agg(distinct day::text, ', ') as days
     from late join counted on counted.id = answer_id having count(*) > 0`,
    [HALDENPEAK, today, 'https://trailgazette.example/archive'],
  )
  if (late) yield `Haldenpeak: recorded ${late.citations} late citations of answers of ${late.days}.`

  const retired = await edit(
    'update prompts set retired_at = case when retired_at is null then now() end where id = $1 returning retired_at',
    [demoId('prompt', 'vellamora', PROMPT)],
  )
  if (retired) yield `Vellamora: ${retired.retired_at ? 'retired' : 'brought back'} the prompt “${PROMPT}”`

  const renamed = await edit(
    `update competitors set aliases =
       case when $2 = any(aliases) then array_remove(aliases, $2) else aliases || $2::text end
     where id = $1 returning $2 = any(aliases) as is_added`,
    [demoId('competitor', 'vellamora', COMPETITOR), ALIAS],
  )
  if (renamed)
    yield `Vellamora: ${renamed.is_added ? 'added' : 'removed'} the alias ${ALIAS} of the competitor ${COMPETITOR}.`

  const edited = await edit(
    `update answers set error = case when error is null then 'stream ended early' end
     where id = (
       select answers.id from answers join prompts on prompts.id = prompt_id
       where brand_id = $1 and retired_at is null and counts_in_metrics
         and (answered_at at time zone 'UTC')::date = $2::date - 100
       order by answers.id limit 1
     )
     returning (answered_at at time zone 'UTC')::date::text as day, error`,
    [HALDENPEAK, today],
  )
  if (edited)
    yield `Haldenpeak: marked an answer of ${edited.day} as ${edited.error ? 'incomplete' : 'complete'}.`
}
