import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { hashOf, randomFraction, relation, timeOrderedId } from './runs.ts'

/** Inserts the answers of the runs since a day, with the names, phrases and recommendations that are found in them. */
export async function insertAnswers(client: Client, since: string): Promise<void> {
  await client.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at, error)
     select id, prompt_id, model_id, market_id, answered_at, error from demo_run where day >= $1`,
    [since],
  )
  for (const insert of [MENTIONS, PHRASES, RECOMMENDATIONS]) await client.query(insert, [since])
}

/**
 * Returns the spellings of an entity in answers: its name, aliases, other case and surrounding spaces.
 *
 * Not computed in SQL, where upper() of an umlaut depends on the server's locale.
 */
const spellingsOf = (name: string, others: readonly string[]) => [
  ...new Set([name, ...others, name.toUpperCase(), ` ${name} `, name.toLowerCase()]),
]

/** The brands and their competitors. A question about the brand raises its own chance and lowers theirs. */
const ENTITIES = BRANDS.flatMap(({ id, name, displayName, aliases, competitors, named, positive }) => [
  {
    ...named,
    brand_id: id,
    is_judged: true,
    bias_effect: 1,
    branded_effect: 0.6,
    spellings: spellingsOf(name, [displayName, ...aliases]),
    positive: positive.level,
    positive_rise: positive.rise,
  },
  ...competitors.map((competitor, index) => ({
    ...competitor,
    brand_id: id,
    competitor_id: competitor.id,
    is_judged: competitor.active,
    // Every second one is weak where the brand is strong.
    bias_effect: index % 2 === 0 ? -0.7 : 1,
    branded_effect: -0.1,
    spellings: spellingsOf(competitor.name, [...competitor.aliases, ...competitor.unlisted]),
  })),
])

const ENTITY = `brand_id uuid, competitor_id uuid, is_judged boolean, level float8, rise float8, bias_effect float8,
  branded_effect float8, spellings text[], positive float8, positive_rise float8`

/** Each run with each entity of its brand. The run names the entity when its `draw` is below the `chance`. */
const PAIRS = `
  from demo_run r
  join ${relation('e', ENTITIES, ENTITY)} using (brand_id)
  cross join ${hashOf('r.id::text || coalesce(competitor_id, brand_id)')}
  cross join lateral (
    select ${randomFraction(0)} as draw, level + rise * trend + bias_effect * bias + variation
      + case when branded then branded_effect else 0 end as chance
  ) chance
  where day >= $1 and (competitor_id is null or competitor_id in (select id from competitors))`

const COMPLETE = `(error is null or error = 'stream ended early')`

/** The first spelling is the most frequent. Some answers have two. */
const MENTIONS = `
  insert into answer_mentions (answer_id, name)
  select id, spellings[1 + (pick + again) % cardinality(spellings)]
  from (
    select r.id, spellings, floor(power(${randomFraction(1)}, 2) * cardinality(spellings))::integer as pick,
      ${randomFraction(2)} < 0.08 as twice ${PAIRS} and ${COMPLETE} and draw < chance
  ) named
  cross join generate_series(0, twice::integer) again`

/** One or two phrases about the brand for two thirds of the answers that name it. */
const PHRASES = `
  insert into sentiment_phrases (id, answer_id, polarity, confidence)
  select ${timeOrderedId('answered_at', 'hash')}, id,
    case
      when phrases = 'neutral' or ${randomFraction(1)} between chance and chance + 0.55 * (1 - chance) then 'neutral'
      when ${randomFraction(1)} < chance then 'positive'
      else 'negative' end,
    round((0.55 + 0.44 * ${randomFraction(2)})::numeric, 4)
  from (
    select r.id, answered_at, phrases, floor(3 * ${randomFraction(3)})::integer as count,
      positive + positive_rise * trend + variation + 0.4 * bias as chance
    ${PAIRS} and ${COMPLETE} and draw < chance and competitor_id is null and phrases <> 'silent'
  ) named
  cross join generate_series(1, count) n
  cross join ${hashOf(`id::text || 'phrase' || n`)}`

/** A sixth of the answers is judged, from a week before the first date that the metric publishes. */
const RECOMMENDATIONS = `
  insert into recommendations (answer_id, competitor_id, recommended)
  select r.id, competitor_id, draw < chance * (0.42 + 0.2 * trend * bias_effect)
  ${PAIRS} and error is null and is_judged and has_verdict and day >= '2026-09-15'`
