import { recommendedRate } from '../../../drizzle/views/recommended-rate.ts'
import type { MutatedView } from './mutant.ts'
import { MATCHED, SORTED_AS_STORED } from './twins.ts'

const RATES = 'gives the rate of recommended among judged answers, of the brand and of each competitor'
const START = 'has no row before 2026-09-22, whatever is stored'
const STRANGER = 'has no row for the competitor of another brand'
const COUNTED = 'leaves out answers that do not count, and counts branded prompts'
const ROUNDS = 'rounds half away from zero, and lets the numerator be recovered'

export const RECOMMENDED_RATE: MutatedView = {
  view: recommendedRate,
  file: 'functions/recommended-rate',
  mutants: [
    {
      sql: 'is not null as is_competitor',
      becomes: 'is null as is_competitor',
      fails: 'puts the brand first on each date, then competitors by code point',
    },
    ...['true', 'false'].map((becomes) => ({
      sql: 'judged.competitor_id is not null as',
      becomes: `${becomes} as`,
      fails: 'tells a competitor of the same name from the brand',
    })),
    { sql: 'judged.competitor_id is null as', becomes: 'true as', fails: RATES },
    { sql: 'is null as is_brand', becomes: 'is not null as is_brand', fails: RATES },
    { sql: 'coalesce(competitors.name, brands.name)', becomes: 'competitors.name', fails: RATES },
    { sql: 'coalesce(competitors.name, brands.name)', becomes: 'brands.name', fails: RATES },
    { sql: 'brands.name) collate "C"', becomes: 'brands.name)', same: SORTED_AS_STORED },
    { sql: 'round(100.0', becomes: 'trunc(100.0', fails: ROUNDS },
    { sql: '100.0 * count(*)', becomes: '100.0 * max(1)', fails: RATES },
    { sql: '/ count(*), 4)', becomes: '/ max(1), 4)', fails: RATES },
    { sql: '100.0 * count', becomes: '1.0 * count', fails: RATES },
    { sql: '100.0 * count', becomes: '100 * count', fails: RATES },
    { sql: '100.0 * count', becomes: '100.0 + count', fails: RATES },
    { sql: 'count(*) filter (where judged.recommended)', becomes: 'count(*)', fails: RATES },
    { sql: 'where judged.recommended', becomes: 'where not judged.recommended', fails: RATES },
    { sql: '/ count(*), 4)', becomes: '* count(*), 4)', fails: RATES },
    {
      sql: '/ count(*), 4)',
      becomes:
        '/ (select count(*) from metrics.counted_answers as each where each.brand_id = counted.brand_id), 4)',
      fails: RATES,
    },
    { sql: 'count(*), 4)', becomes: 'count(*), 3)', fails: RATES },
    { sql: 'count(*)::int as judged_answers', becomes: 'max(1) as judged_answers', fails: RATES },
    {
      sql: 'count(*)::int as judged_answers',
      becomes: 'count(*) filter (where judged.recommended)::int as judged_answers',
      fails: RATES,
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = judged.answer_id',
      becomes: 'cross join metrics.counted_answers as counted',
      fails: RATES,
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = judged.answer_id',
      becomes: `join (
        select answers.id as answer_id, brand_id, (answered_at at time zone 'UTC')::date as date
        from answers join prompts on prompts.id = prompt_id
      ) as counted on counted.answer_id = judged.answer_id`,
      fails: COUNTED,
    },
    {
      sql: 'join export_source.brands on brands.id = counted.brand_id',
      becomes: 'cross join export_source.brands',
      fails: RATES,
    },
    { sql: 'join export_source.brands', becomes: 'left join export_source.brands', same: MATCHED },
    { sql: 'left join export_source.competitors', becomes: 'join export_source.competitors', fails: RATES },
    {
      sql: 'left join export_source.competitors on competitors.id = judged.competitor_id and competitors.brand_id = counted.brand_id',
      becomes: 'cross join export_source.competitors',
      fails: RATES,
    },
    {
      sql: 'on competitors.id = judged.competitor_id and competitors.brand_id',
      becomes: 'on competitors.brand_id',
      fails: RATES,
    },
    { sql: 'and competitors.brand_id = counted.brand_id', becomes: '', fails: STRANGER },
    {
      sql: 'competitors.id = judged.competitor_id and competitors.brand_id',
      becomes: 'competitors.id = judged.competitor_id or competitors.brand_id',
      fails: RATES,
    },
    {
      sql: "where counted.date >= date '2026-09-22' and (judged.competitor_id is null or competitors.id is not null)",
      becomes: 'where (judged.competitor_id is null or competitors.id is not null)',
      fails: START,
    },
    {
      sql: "where counted.date >= date '2026-09-22' and (judged.competitor_id is null or competitors.id is not null)",
      becomes: '',
      fails: START,
    },
    { sql: ">= date '2026-09-22'", becomes: "> date '2026-09-22'", fails: START },
    { sql: "'2026-09-22'", becomes: "'2026-09-21'", fails: START },
    { sql: "'2026-09-22'", becomes: "'2026-09-23'", fails: START },
    {
      sql: 'and (judged.competitor_id is null or competitors.id is not null)',
      becomes: '',
      fails: STRANGER,
    },
    {
      sql: '(judged.competitor_id is null or competitors.id is not null)',
      becomes: 'judged.competitor_id is null',
      fails: RATES,
    },
    {
      sql: '(judged.competitor_id is null or competitors.id is not null)',
      becomes: 'competitors.id is not null',
      fails: RATES,
    },
    {
      sql: 'judged.competitor_id is null or competitors.id is not null',
      becomes: 'judged.competitor_id is not null or competitors.id is not null',
      fails: RATES,
    },
    {
      sql: 'or competitors.id is not null',
      becomes: 'or competitors.id is null',
      fails: RATES,
    },
  ],
}
