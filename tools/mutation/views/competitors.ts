import { competitors } from '../../../drizzle/views/competitors.ts'
import type { MutatedView } from './mutant.ts'
import { SORTED_AS_STORED } from './twins.ts'

const COUNTS = 'counts the answers that name the competitor, among all answers of the date'
const ZERO =
  'has a row with 0 for a competitor that nobody named, on each date with counted answers and on no other'
const ROUNDS = 'rounds rates half away from zero'
const STRANGER = 'has no row for the competitor of another brand'

export const COMPETITORS: MutatedView = {
  view: competitors,
  file: 'functions/competitors',
  mutants: [
    { sql: 'competitor.name collate "C"', becomes: 'competitor.name', same: SORTED_AS_STORED },
    {
      sql: 'count(*)::int as total_responses',
      becomes: 'count(mentioned.names)::int as total_responses',
      fails: ZERO,
    },
    { sql: 'count(*)::int as total_responses', becomes: 'max(1) as total_responses', fails: COUNTS },
    {
      sql: 'filter (where mentioned.names && competitor.names)::int',
      becomes: '::int',
      fails: COUNTS,
    },
    {
      sql: 'count(*) filter (where mentioned.names && competitor.names)::int',
      becomes: 'max(1) filter (where mentioned.names && competitor.names)',
      fails: COUNTS,
    },
    {
      sql: 'mentioned.names && competitor.names)::int',
      becomes: 'mentioned.names @> competitor.names)::int',
      fails: 'counts a competitor as mentioned by an alias',
    },
    {
      sql: 'mentioned.names && competitor.names)::int',
      becomes: 'mentioned.names <@ competitor.names)::int',
      fails: COUNTS,
    },
    { sql: 'round(100.0 *', becomes: 'trunc(100.0 *', fails: ROUNDS },
    { sql: '100.0 * count(*)', becomes: '100.0 * max(1)', fails: COUNTS },
    { sql: '/ count(*), 4)', becomes: '/ max(1), 4)', fails: COUNTS },
    { sql: '100.0 * count', becomes: '1.0 * count', fails: COUNTS },
    { sql: '100.0 * count', becomes: '100 * count', fails: COUNTS },
    { sql: '100.0 * count', becomes: '100.0 + count', fails: COUNTS },
    {
      sql: 'count(*) filter (where mentioned.names && competitor.names) / count(*), 4)',
      becomes: 'count(*) / count(*), 4)',
      fails: COUNTS,
    },
    {
      sql: 'filter (where mentioned.names && competitor.names) / count(*)',
      becomes: 'filter (where not mentioned.names && competitor.names) / count(*)',
      fails: COUNTS,
    },
    { sql: '/ count(*), 4)', becomes: '* count(*), 4)', fails: COUNTS },
    { sql: '/ count(*), 4)', becomes: '/ count(mentioned.names), 4)', fails: ZERO },
    { sql: 'count(*), 4)', becomes: 'count(*), 3)', fails: COUNTS },
    {
      sql: 'join metrics.competitor_names as competitor on competitor.brand_id = counted.brand_id',
      becomes: 'cross join metrics.competitor_names as competitor',
      fails: STRANGER,
    },
    {
      sql: 'join metrics.competitor_names as competitor',
      becomes: 'left join metrics.competitor_names as competitor',
      fails: STRANGER,
    },
    {
      sql: 'metrics.fold(answer_mentions.name)',
      becomes: 'answer_mentions.name',
      fails: 'counts a competitor as mentioned in another case',
    },
    {
      sql: 'metrics.fold(answer_mentions.name)',
      becomes: 'lower(answer_mentions.name)',
      fails: 'counts a competitor as mentioned with spaces around',
    },
    {
      sql: 'array_agg(metrics.fold(answer_mentions.name))',
      becomes: 'array[min(metrics.fold(answer_mentions.name))]',
      fails: COUNTS,
    },
    { sql: 'where answer_mentions.answer_id = counted.answer_id', becomes: '', fails: COUNTS },
    {
      sql: 'where answer_mentions.answer_id = counted.answer_id',
      becomes: 'where answer_mentions.answer_id = counted.answer_id having count(*) > 0',
      fails: ZERO,
    },
  ],
}
