import type { Client } from 'pg'
import { ORGANIZATIONS } from './organizations.ts'

const DEMO_ANSWERS = `select id from answers where prompt_id in
  (select p.id from prompts p join brands b on b.id = p.brand_id where b.organization_id = any($1))`

/**
 * Takes away the demo organizations with all that is theirs, and nothing else.
 *
 * The rows of answers go first, in one statement a table: a cascade would look for them answer by answer.
 */
export async function clearDemo(client: Client): Promise<void> {
  const organizations = Object.values(ORGANIZATIONS)
  const ids = organizations.map(({ id }) => id)
  for (const table of ['recommendations', 'sentiment_phrases', 'citations', 'answer_mentions']) {
    await client.query(`delete from ${table} where answer_id in (${DEMO_ANSWERS})`, [ids])
  }
  await client.query(`delete from answers where id in (${DEMO_ANSWERS})`, [ids])
  await client.query('delete from organizations where id = any($1)', [ids])
  await client.query('delete from users where id = any($1)', [
    organizations.flatMap(({ people }) => people.map(({ id }) => id)),
  ])
}
