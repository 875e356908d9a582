import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { ORGANIZATIONS } from './organizations.ts'

/**
 * Deletes the rows of the demo organizations, except those that the seed overwrites and other rows refer to:
 * organizations, users, brands, prompts and answers. Deleting 40,000 answers with their cascades would take longer than
 * the rest of the seed.
 */
export async function clearDemo(client: Client): Promise<void> {
  const organizations = Object.values(ORGANIZATIONS).map(({ id }) => id)
  const brands = BRANDS.map(({ id }) => id)
  const prompts = BRANDS.flatMap((brand) => brand.prompts.map(({ id }) => id))

  await client.query('delete from brands where organization_id = any($1) and id <> all($2)', [
    organizations,
    brands,
  ])
  for (const table of ['recommendations', 'sentiment_phrases', 'citations', 'answer_mentions']) {
    await client.query(
      `delete from ${table} where answer_id in
         (select a.id from answers a join prompts p on p.id = a.prompt_id where p.brand_id = any($1))`,
      [brands],
    )
  }
  await client.query('delete from prompts where brand_id = any($1) and id <> all($2)', [brands, prompts])
  await client.query('delete from competitors where brand_id = any($1)', [brands])
  for (const table of ['api_keys', 'memberships', 'subscriptions']) {
    await client.query(`delete from ${table} where organization_id = any($1)`, [organizations])
  }
}
