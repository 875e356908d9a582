import type { Client } from 'pg'
import { BRANDS, type StoredBrand } from './brands.ts'
import { spellings } from './spellings.ts'

/**
 * Lets each run name the brand, its competitors and a few names that nobody tracks.
 *
 * Who was named stays in a temporary table, since phrases and recommendations follow from it.
 */
export async function insertMentions(client: Client): Promise<void> {
  await client.query(
    `create temporary table demo_entity (
       brand_id uuid, place integer, competitor_id uuid, judged boolean, is_brand boolean, level float8, rise float8,
       lift float8, lean float8, asked float8, spellings text[]
     ) on commit drop`,
  )
  await client.query(
    `insert into demo_entity
     select brand_id, place, competitor_id, judged, is_brand, level, rise, lift, lean, asked, spellings
     from jsonb_to_recordset($1) as e(brand_id uuid, place integer, competitor_id uuid, judged boolean,
       is_brand boolean, level float8, rise float8, lift float8, lean float8, asked float8, spellings text[])`,
    [JSON.stringify(BRANDS.flatMap(entities))],
  )
  await client.query(
    `create temporary table demo_named (
       answer_id uuid, brand_id uuid, place integer, pick integer, twice boolean
     ) on commit drop`,
  )
  await client.query(NAMED)
  await client.query(
    `insert into answer_mentions (answer_id, name)
     select n.answer_id, e.spellings[1 + (n.pick + again) % cardinality(e.spellings)]
     from demo_named n
     join demo_entity e using (brand_id, place)
     cross join lateral generate_series(0, n.twice::integer) again`,
  )
}

/** The chances of one answer, from what holds for the entity, the question, the model, the market and the day. */
const CHANCE = `e.level + e.rise * r.trend + e.lift * r.launch + e.lean * r.lean + r.ripple + r.ease
  + case when r.branded then e.asked else 0 end`

const BYTE = 'get_byte(uuid_send(r.id), 9 + e.place % 6)'

const NAMED = `
  insert into demo_named
  select r.id, e.brand_id, e.place,
    -- squared, so that the usual spelling comes first by far
    ${BYTE} * ${BYTE} * cardinality(e.spellings) / 65536,
    get_byte(uuid_send(r.id), 15) < 20
  from demo_run r
  join demo_entity e using (brand_id)
  where (r.error is null or r.error = 'stream ended early')
    and (get_byte(r.dice, 2 * e.place) * 256 + get_byte(r.dice, 2 * e.place + 1)) / 65536::float8 < ${CHANCE}`

/** The brand at place 0, then its competitors, then the untracked: the place says which dice are whose. */
function entities(brand: StoredBrand) {
  const own = {
    competitor_id: null,
    judged: true,
    is_brand: true,
    ...brand.pull,
    lift: 0.16,
    asked: 0.6,
    spellings: spellings(brand.name, [brand.displayName, ...brand.aliases]),
  }
  const rivals = brand.competitors.map(({ id, name, aliases, active, level, rise }) => ({
    competitor_id: id,
    judged: active,
    is_brand: false,
    level,
    rise,
    lift: -0.05,
    asked: -0.1,
    spellings: spellings(name, aliases),
  }))
  const untracked = brand.untracked.map((name) => ({
    competitor_id: null,
    judged: false,
    is_brand: false,
    level: 0.04,
    rise: 0,
    lift: 0,
    asked: 0,
    spellings: spellings(name, []),
  }))
  return [own, ...rivals, ...untracked].map((entity, place) => ({
    ...entity,
    brand_id: brand.id,
    place,
    // Each is strong elsewhere: where the brand is known best, every second rival is known least.
    lean: place % 2 === 0 ? 1 : -0.7,
  }))
}
