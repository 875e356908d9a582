import { sentiment } from '../../../drizzle/views/sentiment.ts'
import type { MutatedView } from './mutant.ts'

const COUNTS = 'counts phrases by polarity and weighs them by confidence'
const NEUTRAL = 'has no score on a day with neutral phrases alone'
const EXACT = 'adds weights up exactly'
const ROUNDS = 'rounds the score half away from zero'
const COUNTED = 'takes the phrases of counted answers of all markets, on the day of the answer'
const FOUR_ALREADY = 'Confidences have four decimals, and so has their sum.'

const polarities = ['positive', 'neutral', 'negative'] as const
const sides = ['positive', 'negative'] as const

export const SENTIMENT: MutatedView = {
  view: sentiment,
  file: 'functions/sentiment',
  mutants: [
    ...sides.flatMap((side) => [
      { sql: `round(daily.${side}, 4)`, becomes: `daily.${side}`, same: FOUR_ALREADY },
      { sql: `round(daily.${side}, 4)`, becomes: `round(daily.${side}, 3)`, fails: EXACT },
      {
        sql: `coalesce(sum(phrase.confidence) filter (where phrase.polarity = '${side}'), 0) as`,
        becomes: `sum(phrase.confidence) filter (where phrase.polarity = '${side}') as`,
        fails: NEUTRAL,
      },
      {
        sql: `filter (where phrase.polarity = '${side}'), 0) as`,
        becomes: `filter (where phrase.polarity = '${side}'), 1) as`,
        fails: NEUTRAL,
      },
      {
        sql: `sum(phrase.confidence) filter (where phrase.polarity = '${side}'), 0) as`,
        becomes: `max(phrase.confidence) filter (where phrase.polarity = '${side}'), 0) as`,
        fails: COUNTS,
      },
      {
        sql: `filter (where phrase.polarity = '${side}'), 0) as`,
        becomes: ', 0) as',
        fails: COUNTS,
      },
      {
        sql: `where phrase.polarity = '${side}'), 0) as`,
        becomes: `where phrase.polarity <> '${side}'), 0) as`,
        fails: COUNTS,
      },
      {
        sql: `where phrase.polarity = '${side}'), 0) as`,
        becomes: `where phrase.polarity = 'neutral'), 0) as`,
        fails: COUNTS,
      },
    ]),
    { sql: 'round(100 *', becomes: 'trunc(100 *', fails: ROUNDS },
    { sql: '100 * daily.positive', becomes: '1 * daily.positive', fails: COUNTS },
    { sql: '100 * daily.positive', becomes: '100 + daily.positive', fails: COUNTS },
    {
      sql: '/ nullif(daily.positive + daily.negative, 0), 4)',
      becomes: '* nullif(daily.positive + daily.negative, 0), 4)',
      fails: COUNTS,
    },
    {
      sql: 'nullif(daily.positive + daily.negative, 0)',
      becomes: '(daily.positive + daily.negative)',
      fails: NEUTRAL,
    },
    {
      sql: 'nullif(daily.positive + daily.negative, 0)',
      becomes: 'greatest(daily.positive + daily.negative, 0.0001)',
      fails: NEUTRAL,
    },
    { sql: 'daily.positive + daily.negative', becomes: 'daily.positive - daily.negative', fails: COUNTS },
    {
      sql: 'nullif(daily.positive + daily.negative, 0)',
      becomes: 'nullif(daily.positive + daily.negative, 1)',
      fails: NEUTRAL,
    },
    {
      sql: 'daily.negative, 0), 4) as sentiment_score',
      becomes: 'daily.negative, 0), 3) as sentiment_score',
      fails: COUNTS,
    },
    {
      sql: 'nullif(daily.positive + daily.negative, 0)',
      becomes: 'nullif(daily.positive_mentions + daily.negative_mentions, 0)',
      fails: COUNTS,
    },
    ...polarities.flatMap((polarity) => [
      { sql: `filter (where phrase.polarity = '${polarity}')::int`, becomes: '::int', fails: COUNTS },
      {
        sql: `where phrase.polarity = '${polarity}')::int`,
        becomes: `where phrase.polarity <> '${polarity}')::int`,
        fails: COUNTS,
      },
      {
        sql: `where phrase.polarity = '${polarity}')::int`,
        becomes: `where phrase.polarity = 'mixed')::int`,
        fails: COUNTS,
      },
      {
        sql: `count(*) filter (where phrase.polarity = '${polarity}')::int`,
        becomes: `coalesce(max(1) filter (where phrase.polarity = '${polarity}'), 0)`,
        fails: polarity === 'neutral' ? NEUTRAL : COUNTS,
      },
      {
        sql: `count(*) filter (where phrase.polarity = '${polarity}')::int`,
        becomes: `count(distinct phrase.answer_id) filter (where phrase.polarity = '${polarity}')::int`,
        fails: polarity === 'neutral' ? NEUTRAL : EXACT,
      },
    ]),
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id',
      becomes: 'cross join metrics.counted_answers as counted',
      fails: COUNTED,
    },
    {
      sql: 'join metrics.counted_answers as counted on counted.answer_id = phrase.answer_id',
      becomes: `join (
        select answers.id as answer_id, brand_id, (answered_at at time zone 'UTC')::date as date
        from answers join prompts on prompts.id = prompt_id
      ) as counted on counted.answer_id = phrase.answer_id`,
      fails: COUNTED,
    },
  ],
}
