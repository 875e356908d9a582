import type { Client } from 'pg'
import { draw } from './draw.ts'

/** Has a sixth of the answers judged: for the brand and each active competitor, did it recommend them? */
export async function insertRecommendations(client: Client): Promise<void> {
  await client.query(JUDGEMENTS)
}

/** Judging began a week before the first date that is published, as trials do. */
const JUDGEMENTS = `
  insert into recommendations (answer_id, competitor_id, recommended)
  select r.id, e.competitor_id,
    named.answer_id is not null and (get_byte(r.dice, 15 - e.place) / 256::float8) < 0.42 + 0.2 * r.trend * e.lean
  from demo_run r
  join demo_entity e using (brand_id)
  left join demo_named named on named.answer_id = r.id and named.place = e.place
  where e.judged and r.day >= '2026-09-15' and r.error is null and ${draw('uuid_send(r.id)', 6)} < 0.17`
