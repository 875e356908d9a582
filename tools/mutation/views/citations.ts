import { citations } from '../../../drizzle/views/citations.ts'
import type { MutatedView } from './mutant.ts'
import { urlKeyMutants } from './url-key.ts'

const DAY = "(cited.recorded_at at time zone 'UTC')::date"
const DATES = 'dates a citation by when it was recorded, not by its answer'
const DOMAIN = 'gives the greatest domain by code point, or null when none is known'

export const CITATIONS: MutatedView = {
  view: citations,
  file: 'functions/citations',
  mutants: [
    {
      sql: DAY,
      becomes: 'cited.recorded_at::date',
      times: 2,
      fails: 'cuts days in UTC whatever the time zone of the refresh',
    },
    { sql: DAY, becomes: "(cited.recorded_at at time zone 'Etc/GMT+1')::date", times: 2, fails: DATES },
    { sql: DAY, becomes: "(cited.recorded_at at time zone 'Etc/GMT-1')::date", times: 2, fails: DATES },
    { sql: DAY, becomes: 'counted.date', times: 2, fails: DATES },
    { sql: DAY, becomes: "(cited.recorded_at at time zone 'UTC')", times: 2, fails: DATES },
    ...urlKeyMutants('/citations'),
    {
      sql: 'max(cited.domain collate "C")',
      becomes:
        '(array_agg(cited.domain order by lower(cited.domain) desc) filter (where cited.domain is not null))[1]',
      fails: DOMAIN,
    },
    { sql: 'max(cited.domain', becomes: 'min(cited.domain', fails: DOMAIN },
    { sql: 'bool_or(', becomes: 'bool_and(', fails: 'decides ownership once per URL and day' },
    {
      sql: 'count(distinct cited.answer_id)',
      becomes: 'count(cited.answer_id)',
      fails: 'counts an answer once when it cites a URL twice',
    },
    {
      sql: 'count(distinct cited.answer_id)::int',
      becomes: 'max(1)',
      fails: 'tells the pages that were cited, owned and earned ones',
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = cited.answer_id',
      becomes: 'cross join metrics.counted_answers as counted',
      fails: 'leaves out answers that do not count',
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = cited.answer_id',
      becomes:
        'join (select answers.id as answer_id, brand_id from answers join prompts on prompts.id = prompt_id) as counted on counted.answer_id = cited.answer_id',
      fails: 'leaves out answers that do not count',
    },
  ],
}
