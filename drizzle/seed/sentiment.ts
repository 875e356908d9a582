import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { draw, timedId } from './draw.ts'

/** Lets two thirds of the answers that name the brand say something about it, in one phrase or two. */
export async function insertSentiment(client: Client): Promise<void> {
  await client.query(PHRASES, [
    JSON.stringify(BRANDS.map(({ id, mood }) => ({ brand_id: id, level: mood.level, rise: mood.rise }))),
  ])
}

const PHRASES = `
  insert into sentiment_phrases (id, answer_id, polarity, confidence)
  select ${timedId('answered_at', 'hash')}, answer_id,
    case
      when phrases = 'neutral' then 'neutral'
      when ${draw('dice', 0)} < good then 'positive'
      when ${draw('dice', 0)} < good + 0.55 * (1 - good) then 'neutral'
      else 'negative' end,
    (5500 + (get_byte(dice, 2) * 256 + get_byte(dice, 3)) % 4400) / 10000.0
  from (
    select *, decode(hash, 'hex') as dice
    from (
      select md5(r.id::text || 'phrase' || n) as hash, r.id as answer_id, r.answered_at, r.phrases,
        b.level + b.rise * r.trend + 0.08 * r.launch + r.ripple + 0.4 * r.lean as good
      from demo_named named
      join demo_entity e using (brand_id, place)
      join demo_run r on r.id = named.answer_id
      join jsonb_to_recordset($1) as b(brand_id uuid, level float8, rise float8) on b.brand_id = r.brand_id
      cross join lateral generate_series(1, get_byte(r.dice, 14) % 3) n
      where e.is_brand and r.phrases <> 'silent'
      offset 0 -- a fence: the md5 is taken once a phrase
    ) hashed
    offset 0
  ) diced`
