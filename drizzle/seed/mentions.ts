import type { Client } from 'pg'
import { BRANDS, type StoredBrand } from './brands.ts'
import { insertRows } from './insert-rows.ts'
import { spellings } from './spellings.ts'

/**
 * Inserts the names that each run mentions: the brand, its competitors and untracked names.
 *
 * The temporary table `demo_mention` has the mentions for phrases and recommendations.
 */
export async function insertMentions(client: Client): Promise<void> {
  await client.query(
    `create temporary table demo_entity (
       brand_id uuid, slot integer, competitor_id uuid, judged boolean, is_brand boolean, level float8, rise float8,
       launch_effect float8, bias float8, branded_effect float8, spellings text[]
     ) on commit drop`,
  )
  await insertRows(client, 'demo_entity', BRANDS.flatMap(entities))
  // A user may have deleted competitors.
  await client.query(`delete from demo_entity where competitor_id not in (select id from competitors)`)
  await client.query(
    `create temporary table demo_mention (
       answer_id uuid, brand_id uuid, slot integer, pick integer, twice boolean
     ) on commit drop`,
  )
  await client.query(NAMED)
  await client.query(
    `insert into answer_mentions (answer_id, name)
     select n.answer_id, e.spellings[1 + (n.pick + again) % cardinality(e.spellings)]
     from demo_mention n
     join demo_entity e using (brand_id, slot)
     cross join lateral generate_series(0, n.twice::integer) again`,
  )
}

/** Probability that an answer names an entity, from the entity, prompt, model, market and day. */
const CHANCE = `e.level + e.rise * r.trend + e.launch_effect * r.launch + e.bias * r.bias + r.variation + r.prompt_bias
  + case when r.branded then e.branded_effect else 0 end`

const BYTE = 'get_byte(uuid_send(r.id), 9 + e.slot % 6)'

const NAMED = `
  insert into demo_mention
  select r.id, e.brand_id, e.slot,
    -- squared, so that the first spelling is the most frequent
    ${BYTE} * ${BYTE} * cardinality(e.spellings) / 65536,
    get_byte(uuid_send(r.id), 15) < 20
  from demo_run r
  join demo_entity e using (brand_id)
  where (r.error is null or r.error = 'stream ended early')
    and (get_byte(r.random_bytes, 2 * e.slot) * 256 + get_byte(r.random_bytes, 2 * e.slot + 1)) / 65536::float8 < ${CHANCE}`

/** The brand in slot 0, then its competitors, then untracked names. The slot selects the random bytes of an entity. */
function entities(brand: StoredBrand) {
  const own = {
    competitor_id: null,
    judged: true,
    is_brand: true,
    ...brand.mentionRate,
    launch_effect: 0.16,
    branded_effect: 0.6,
    spellings: spellings(brand.name, [brand.displayName, ...brand.aliases]),
  }
  const rivals = brand.competitors.map(({ id, name, aliases, active, level, rise }) => ({
    competitor_id: id,
    judged: active,
    is_brand: false,
    level,
    rise,
    launch_effect: -0.05,
    branded_effect: -0.1,
    spellings: spellings(name, aliases),
  }))
  const untracked = brand.untracked.map((name) => ({
    competitor_id: null,
    judged: false,
    is_brand: false,
    level: 0.04,
    rise: 0,
    launch_effect: 0,
    branded_effect: 0,
    spellings: spellings(name, []),
  }))
  return [own, ...rivals, ...untracked].map((entity, slot) => ({
    ...entity,
    brand_id: brand.id,
    slot,
    // Every second entity is weak where the brand is strong.
    bias: slot % 2 === 0 ? 1 : -0.7,
  }))
}
