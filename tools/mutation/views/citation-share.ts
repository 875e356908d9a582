import { citationShare } from '../../../drizzle/views/citation-share.ts'
import type { MutatedView } from './mutant.ts'
import { urlKeyMutants } from './url-key.ts'

const TWICE = 'counts an answer that cites a URL twice once, as owned when either was'
const FEWER = 'counts fewer owned citations than citations when the domain became owned during the day'
const DOMAIN = 'gives the greatest domain by code point, or null when none is known'
const LEFT_OUT = 'leaves out answers that do not count, and counts branded prompts'

export const CITATION_SHARE: MutatedView = {
  view: citationShare,
  file: 'functions/citation-share',
  mutants: [
    {
      sql: 'counted.date',
      becomes: "(cited.recorded_at at time zone 'UTC')::date",
      times: 2,
      fails: 'dates a citation by its answer, not by when it was recorded',
    },
    ...urlKeyMutants('/citation-share'),
    {
      sql: 'max(cited.domain collate "C")',
      becomes:
        '(array_agg(cited.domain order by lower(cited.domain) desc) filter (where cited.domain is not null))[1]',
      fails: 'gives the greatest domain by code point, or null when none is known',
    },
    { sql: 'max(cited.domain', becomes: 'min(cited.domain', fails: DOMAIN },
    { sql: 'bool_or(', becomes: 'bool_and(', fails: FEWER },
    {
      sql: 'count(distinct cited.answer_id)::int as citations',
      becomes: 'count(cited.answer_id)::int as citations',
      fails: TWICE,
    },
    {
      sql: 'count(distinct cited.answer_id)::int as citations',
      becomes: 'max(1) as citations',
      fails: FEWER,
    },
    {
      sql: 'count(distinct cited.answer_id) filter',
      becomes: 'count(cited.answer_id) filter',
      fails: TWICE,
    },
    {
      sql: 'count(distinct cited.answer_id) filter (where cited.owned)::int',
      becomes: 'coalesce(max(1) filter (where cited.owned), 0)',
      fails: FEWER,
    },
    { sql: 'filter (where cited.owned)', becomes: '', fails: FEWER },
    { sql: 'where cited.owned', becomes: 'where not cited.owned', fails: FEWER },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = cited.answer_id',
      becomes: 'cross join metrics.counted_answers as counted',
      fails: LEFT_OUT,
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = cited.answer_id',
      becomes: `join (
        select answers.id as answer_id, brand_id, (answered_at at time zone 'UTC')::date as date
        from answers join prompts on prompts.id = prompt_id
      ) as counted on counted.answer_id = cited.answer_id`,
      fails: LEFT_OUT,
    },
  ],
}
