import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { ORGANIZATIONS } from './organizations.ts'

/** Deletes the rows of the demo organizations. A statement per table: a cascade would delete the details by answer. */
export async function clearDemo(client: Client): Promise<void> {
  const organizations = Object.values(ORGANIZATIONS)
  for (const table of ['recommendations', 'sentiment_phrases', 'citations', 'answer_mentions']) {
    await client.query(
      `delete from ${table} where answer_id in
         (select a.id from answers a join prompts p on p.id = a.prompt_id where p.brand_id = any($1))`,
      [BRANDS.map(({ id }) => id)],
    )
  }
  await client.query('delete from organizations where id = any($1)', [organizations.map(({ id }) => id)])
  const people = organizations.flatMap((each) => each.people)
  await client.query('delete from users where id = any($1)', [people.map(({ id }) => id)])
}
