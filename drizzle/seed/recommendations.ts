import type { Client } from 'pg'
import { randomFraction } from './random.ts'

/** Judges a sixth of the answers: whether each recommends the brand and each active competitor. */
export async function insertRecommendations(client: Client): Promise<void> {
  await client.query(JUDGEMENTS)
}

/** Starts a week before the first date that the metric publishes. */
const JUDGEMENTS = `
  insert into recommendations (answer_id, competitor_id, recommended)
  select r.id, e.competitor_id,
    named.answer_id is not null and (get_byte(r.random_bytes, 15 - e.slot) / 256::float8) < 0.42 + 0.2 * r.trend * e.bias
  from demo_run r
  join demo_entity e using (brand_id)
  left join demo_mention named on named.answer_id = r.id and named.slot = e.slot
  where e.judged and r.day >= '2026-09-15' and r.error is null and ${randomFraction('uuid_send(r.id)', 6)} < 0.17`
