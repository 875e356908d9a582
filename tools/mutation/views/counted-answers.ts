import { countedAnswers } from '../../../drizzle/views/counted-answers.ts'
import type { MutatedView } from './mutant.ts'

const RETIRED =
  'an answer counts > unless its prompt is retired, also on dates before it was; and again when it no longer is'
const ASIDE = 'an answer counts > unless its prompt does not count in metrics'
const ERROR = 'an answer counts > unless it is an error'
const ZONES = 'visibility > cuts days in UTC whatever the time zone of the loader and of the refresh'

export const COUNTED_ANSWERS: MutatedView = {
  view: countedAnswers,
  file: 'functions/visibility',
  mutants: [
    {
      sql: "(answers.answered_at at time zone 'UTC')::date",
      becomes: 'answers.answered_at::date',
      fails: ZONES,
    },
    { sql: "'UTC'", becomes: "'Etc/GMT+1'", fails: 'visibility > cuts days at midnight UTC' },
    { sql: "'UTC'", becomes: "'Etc/GMT-1'", fails: ZONES },
    {
      sql: 'join export_source.prompts on prompts.id = answers.prompt_id',
      becomes: 'cross join export_source.prompts',
      fails: 'visibility > takes no answer of another brand',
    },
    {
      sql: 'where answers.error is null and prompts.retired_at is null and prompts.counts_in_metrics',
      becomes: '',
      fails: ERROR,
    },
    { sql: 'where answers.error is null and', becomes: 'where', fails: ERROR },
    { sql: 'where answers.error is null', becomes: 'where answers.error is not null', fails: ERROR },
    { sql: 'answers.error is null', becomes: "coalesce(answers.error, '') = ''", fails: ERROR },
    { sql: 'and prompts.retired_at is null', becomes: '', fails: RETIRED },
    { sql: 'prompts.retired_at is null', becomes: 'prompts.retired_at is not null', fails: RETIRED },
    {
      sql: 'and prompts.retired_at is null',
      becomes: 'and (prompts.retired_at is null or prompts.retired_at > answers.answered_at)',
      fails: RETIRED,
    },
    { sql: 'and prompts.counts_in_metrics', becomes: '', fails: ASIDE },
    { sql: 'and prompts.counts_in_metrics', becomes: 'and not prompts.counts_in_metrics', fails: ASIDE },
    {
      sql: 'and prompts.counts_in_metrics',
      becomes:
        'and prompts.counts_in_metrics and not (select branded from public.prompts as raw where raw.id = prompts.id)',
      fails: 'an answer counts > when its prompt is branded',
    },
    {
      sql: 'is null and prompts.counts_in_metrics',
      becomes: 'is null or prompts.counts_in_metrics',
      fails: RETIRED,
    },
  ],
}
