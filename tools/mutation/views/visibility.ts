import { visibility } from '../../../drizzle/views/visibility.ts'
import type { MutatedView } from './mutant.ts'
import { MATCHED, SORTED_AS_STORED } from './twins.ts'

const COUNTS = 'visibility > counts the answers of a date, model and market, and those that mention the brand'
const FOUR = 'visibility > writes rates with four decimals, whole ones too'
const ROUNDS = 'visibility > rounds rates half away from zero'

export const VISIBILITY: MutatedView = {
  view: visibility,
  file: 'functions/visibility',
  mutants: [
    { sql: 'counted.model_id collate "C"', becomes: 'counted.model_id', same: SORTED_AS_STORED },
    { sql: 'models.provider collate "C"', becomes: 'models.provider', same: SORTED_AS_STORED },
    { sql: 'markets.name collate "C"', becomes: 'markets.name', same: SORTED_AS_STORED },
    {
      sql: 'count(*)::int as total_prompts',
      becomes: 'count(mentioned.names)::int as total_prompts',
      fails: COUNTS,
    },
    { sql: 'count(*)::int as total_prompts', becomes: 'max(1) as total_prompts', fails: COUNTS },
    {
      sql: 'filter (where mentioned.names && brand.names)::int as visible_count',
      becomes: '::int as visible_count',
      fails: COUNTS,
    },
    {
      sql: 'count(*) filter (where mentioned.names && brand.names)::int as visible_count',
      becomes: 'max(1) filter (where mentioned.names && brand.names) as visible_count',
      fails: COUNTS,
    },
    {
      sql: 'mentioned.names && brand.names)::int',
      becomes: 'mentioned.names @> brand.names)::int',
      fails: 'an answer mentions the brand > when it names it',
    },
    {
      sql: 'mentioned.names && brand.names)::int',
      becomes: 'mentioned.names <@ brand.names)::int',
      fails: 'an answer mentions the brand > once, however many of its names it says',
    },
    { sql: 'round(100.0 *', becomes: 'trunc(100.0 *', fails: ROUNDS },
    { sql: '100.0 * count(*)', becomes: '100.0 * max(1)', fails: COUNTS },
    { sql: '/ count(*), 4)', becomes: '/ max(1), 4)', fails: COUNTS },
    { sql: '100.0 * count', becomes: '1.0 * count', fails: COUNTS },
    { sql: '100.0 * count', becomes: '100 * count', fails: COUNTS },
    { sql: '100.0 * count', becomes: '100.0 + count', fails: COUNTS },
    {
      sql: 'count(*) filter (where mentioned.names && brand.names) / count(*), 4)',
      becomes: 'count(*) / count(*), 4)',
      fails: COUNTS,
    },
    {
      sql: 'filter (where mentioned.names && brand.names) / count(*)',
      becomes: 'filter (where not mentioned.names && brand.names) / count(*)',
      fails: COUNTS,
    },
    { sql: '/ count(*), 4)', becomes: '* count(*), 4)', fails: FOUR },
    { sql: '/ count(*), 4)', becomes: '/ count(mentioned.names), 4)', fails: COUNTS },
    { sql: 'count(*), 4)', becomes: 'count(*), 3)', fails: COUNTS },
    {
      sql: 'join metrics.brand_names as brand on brand.brand_id = counted.brand_id',
      becomes: 'cross join metrics.brand_names as brand',
      fails: COUNTS,
    },
    {
      sql: 'join metrics.brand_names as brand',
      becomes: 'left join metrics.brand_names as brand',
      same: MATCHED,
    },
    {
      sql: 'join export_source.models on models.id = counted.model_id',
      becomes: 'cross join export_source.models',
      fails: COUNTS,
    },
    { sql: 'join export_source.models', becomes: 'left join export_source.models', same: MATCHED },
    {
      sql: 'join export_source.markets on markets.id = counted.market_id',
      becomes: 'cross join export_source.markets',
      fails: COUNTS,
    },
    { sql: 'join export_source.markets', becomes: 'left join export_source.markets', same: MATCHED },
    {
      sql: 'metrics.fold(answer_mentions.name)',
      becomes: 'answer_mentions.name',
      fails: 'an answer mentions the brand > when the case differs',
    },
    {
      sql: 'metrics.fold(answer_mentions.name)',
      becomes: 'lower(answer_mentions.name)',
      fails: 'an answer mentions the brand > when there are spaces around',
    },
    {
      sql: 'array_agg(metrics.fold(answer_mentions.name))',
      becomes: 'array[min(metrics.fold(answer_mentions.name))]',
      fails: 'an answer mentions the brand > among other names, whatever their order',
    },
    {
      sql: 'array_agg(metrics.fold(answer_mentions.name))',
      becomes: 'array[max(metrics.fold(answer_mentions.name))]',
      fails: 'an answer mentions the brand > among other names, whatever their order',
    },
    { sql: 'where answer_mentions.answer_id = counted.answer_id', becomes: '', fails: COUNTS },
    {
      sql: 'where answer_mentions.answer_id = counted.answer_id',
      becomes: 'where answer_mentions.answer_id = counted.answer_id having count(*) > 0',
      fails: COUNTS,
    },
  ],
}
