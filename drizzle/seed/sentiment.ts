import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { randomFraction, timeOrderedId } from './random.ts'

/** Inserts one or two phrases about the brand for two thirds of the answers that name it. */
export async function insertSentiment(client: Client): Promise<void> {
  await client.query(PHRASES, [
    JSON.stringify(
      BRANDS.map(({ id, sentiment }) => ({ brand_id: id, level: sentiment.level, rise: sentiment.rise })),
    ),
  ])
}

const PHRASES = `
  insert into sentiment_phrases (id, answer_id, polarity, confidence)
  select ${timeOrderedId('answered_at', 'hash')}, answer_id,
    case
      when phrases = 'neutral' then 'neutral'
      when ${randomFraction('random_bytes', 0)} < positive_chance then 'positive'
      when ${randomFraction('random_bytes', 0)} < positive_chance + 0.55 * (1 - positive_chance) then 'neutral'
      else 'negative' end,
    (5500 + (get_byte(random_bytes, 2) * 256 + get_byte(random_bytes, 3)) % 4400) / 10000.0
  from (
    select *, decode(hash, 'hex') as random_bytes
    from (
      select md5(r.id::text || 'phrase' || n) as hash, r.id as answer_id, r.answered_at, r.phrases,
        b.level + b.rise * r.trend + 0.08 * r.launch + r.variation + 0.4 * r.bias as positive_chance
      from demo_mention named
      join demo_entity e using (brand_id, slot)
      join demo_run r on r.id = named.answer_id
      join jsonb_to_recordset($1) as b(brand_id uuid, level float8, rise float8) on b.brand_id = r.brand_id
      cross join lateral generate_series(1, get_byte(r.random_bytes, 14) % 3) n
      where e.is_brand and r.phrases <> 'silent'
      offset 0 -- prevents inlining, so that md5 runs once per phrase
    ) hashed
    offset 0
  ) with_bytes`
