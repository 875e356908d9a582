import type pg from 'pg'
import { expect } from 'vitest'
import { answer, insert, place, prompt, refresh } from '../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../test/fixtures/tenant.ts'

/** First and last day of the answers: three months, of which two are not whole. */
export const DAYS = { first: '2026-09-10', last: '2026-11-18' }

/** A day after them that had an answer once: every endpoint lists it as empty. */
export const EMPTIED = '2026-11-20'

/**
 * Adds a brand with some 490 answers. Days differ in the number of answers and in their rates, so the average of daily
 * rates is another number than the rate of a month. September has neutral phrases only, and a competitor has the
 * brand's name.
 */
export async function brandWithAnswers(db: pg.Pool): Promise<Tenant> {
  const its = await tenant(db)
  const [one, other] = [await place(db), await place(db)]
  const promptId = await prompt(db, its.brandId)
  const rivals = ['Globex', 'Initech', 'Acme'].map((name) => ({ brand_id: its.brandId, name }))
  await insert(db, 'competitors', rivals)
  await db.query(
    `insert into answers (prompt_id, model_id, market_id, answered_at)
     select $1, case when (d + n) % 3 = 0 then $2 else $3 end, $4::uuid,
       $5::timestamptz + d * interval '1 day' + n * interval '1 hour'
     from generate_series(0, $6::date - $5::date) as d, generate_series(0, d * 7 % 13) as n`,
    [promptId, one.model, other.model, one.market, `${DAYS.first}T00:00:00Z`, DAYS.last],
  )
  const said = `(
    select
      id as answer_id,
      answered_at,
      extract(day from answered_at - '${DAYS.first}T00:00:00Z'::timestamptz)::int as d,
      extract(hour from answered_at at time zone 'UTC')::int as n
    from answers where prompt_id = $1
  ) as said`
  for (const statement of [
    `answer_mentions (answer_id, name) select answer_id, 'Acme' from ${said} where (d * n + d) % 5 < 1 + d % 3`,
    `answer_mentions (answer_id, name) select answer_id, 'Globex' from ${said} where (d + n) % 4 = 0`,
    `citations (answer_id, url, domain, owned, recorded_at)
     select answer_id, 'https://site.example/' || (n + d * i) % 4, 'site.example', (n + i) % 3 < d % 3, answered_at
     from ${said}, generate_series(1, 3) as i where (d + n) % 5 > 0`,
    `sentiment_phrases (answer_id, polarity, confidence)
     select answer_id,
       case when d < 21 or n % 3 = 0 then 'neutral' when (d + n) % 3 = 0 then 'positive' else 'negative' end,
       (d * 37 + n * 101) % 9999 / 10000.0
     from ${said} where n > 0`,
    `recommendations (answer_id, competitor_id, recommended)
     select answer_id, null, (d + n) % 3 = 0 from ${said}`,
    `recommendations (answer_id, competitor_id, recommended)
     select answer_id, competitors.id, (d * n + length(competitors.name)) % 4 = 0
     from ${said}, competitors where competitors.brand_id = '${its.brandId}' and n % 2 = 0`,
  ])
    await db.query(`insert into ${statement}`, [promptId])
  const gone = await answer(db, {
    prompt: promptId,
    ...one,
    at: `${EMPTIED}T00:00:00Z`,
    citations: [{ url: 'https://site.example/' }],
    phrases: [{ polarity: 'positive', confidence: '0.5' }],
    judged: [{ competitor: null, recommended: true }],
  })
  await refresh(db)
  await db.query('delete from answers where id = $1', [gone])
  await refresh(db)
  return its
}

/** Figures by what they are of: the month, then the values that rows are grouped by. */
type Figures = Readonly<Record<string, number | null>>

/** What the figures of a stream count in raw rows: a percentage for each `month` and `values`. */
const COUNTED: Readonly<
  Record<string, { readonly from: string; readonly values: string; readonly rate: string }>
> = {
  visibility: {
    from: 'said',
    values: 'null',
    rate: `100.0 * count(*) filter (where said.names ? 'Acme') / count(*)`,
  },
  visibility_by_model_id: {
    from: 'said',
    values: 'model_id',
    rate: `100.0 * count(*) filter (where said.names ? 'Acme') / count(*)`,
  },
  competitors: {
    from: 'said join competitors using (brand_id)',
    values: 'competitors.name',
    rate: '100.0 * count(*) filter (where said.names ? competitors.name) / count(*)',
  },
  citation_share: {
    from: 'said join citations on citations.answer_id = said.id',
    values: 'null',
    rate: '100.0 * count(distinct (said.id, url)) filter (where owned) / count(distinct (said.id, url))',
  },
  sentiment: {
    from: 'said join sentiment_phrases on sentiment_phrases.answer_id = said.id',
    values: 'null',
    rate: `100.0 * coalesce(sum(confidence) filter (where polarity = 'positive'), 0)
        / nullif(coalesce(sum(confidence) filter (where polarity <> 'neutral'), 0), 0)`,
  },
  recommended_rate: {
    from: `said join recommendations on recommendations.answer_id = said.id and said.date >= '2026-09-22'
        left join competitors on competitors.id = competitor_id`,
    values: `(competitor_id is null)::text, coalesce(competitors.name, 'Acme')`,
    rate: '100.0 * count(*) filter (where recommended) / count(*)',
  },
}

export const COUNTED_FIGURES = Object.keys(COUNTED)

type Window = { readonly from?: string; readonly to?: string; readonly monthly: boolean }

/**
 * Counts a figure of a brand in its raw rows, without the days in between that the service serves. Returns what a test
 * expects: numbers apart from their last digits.
 */
export async function countFigure(
  db: pg.Pool,
  { name, brandId, from = DAYS.first, to = DAYS.last, monthly }: Window & { name: string; brandId: string },
): Promise<Figures> {
  const figure = COUNTED[name]
  if (figure === undefined) throw new Error(`No figure is counted for ${name}.`)
  const { rows } = await db.query<{ of: string; rate: string | null }>(
    `with said as (
       select answers.id, model_id, brand_id, (answered_at at time zone 'UTC')::date as date,
         coalesce((select jsonb_agg(name) from answer_mentions where answer_id = answers.id), '[]') as names
       from answers join prompts on prompts.id = prompt_id
       where brand_id = $1
     )
     select concat_ws(' ', ${monthly ? `to_char(date, 'YYYY-MM')` : 'null'}, ${figure.values}) as of,
       ${figure.rate} as rate
     from ${figure.from}
     where date between $2 and $3
     group by 1`,
    [brandId, from, to],
  )
  return Object.fromEntries(
    rows.map(({ of, rate }) => [of, rate === null ? null : expect.closeTo(Number(rate), 9)]),
  )
}
