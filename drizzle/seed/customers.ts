import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { BRANDS } from './brands.ts'
import { demoId } from './ids.ts'
import { insertRows } from './insert-rows.ts'
import { MARKETS, MODELS } from './models-and-markets.ts'
import { KEYS, ORGANIZATIONS } from './organizations.ts'

const ALL = Object.values(ORGANIZATIONS)

/** Inserts what the answers refer to: customers with their keys and brands, and models and markets. */
export async function insertCustomers(client: Client): Promise<void> {
  // All organizations share the models and markets, so existing rows stay unchanged.
  const models = MODELS.map(({ id, provider }) => ({ id, provider }))
  await insertRows(client, 'models', models, 'on conflict do nothing')
  const markets = MARKETS.map(({ id, name }) => ({ id, name }))
  await insertRows(client, 'markets', markets, 'on conflict do nothing')
  const tables = {
    organizations: ALL.map(({ id, name }) => ({ id, name })),
    subscriptions: ALL.map(({ id, plan }) => ({ organization_id: id, plan, status: 'active' })),
    users: ALL.map(({ owner }) => owner),
    memberships: ALL.map(({ id, owner }) => ({ organization_id: id, user_id: owner.id, role: 'owner' })),
    brands: BRANDS.map(brandRow),
    competitors: BRANDS.flatMap((brand) =>
      brand.competitors.map(({ level, rise, ...competitor }) => ({ ...competitor, brand_id: brand.id })),
    ),
    prompts: BRANDS.flatMap(({ id, prompts }) => prompts.map((prompt) => ({ ...prompt, brand_id: id }))),
    api_keys: KEYS.map(keyRow),
  }
  for (const [table, rows] of Object.entries(tables)) await insertRows(client, table, rows)
}

/** Deletes the demo. A statement per table: a cascade would delete the details by answer. */
export async function clearDemo(client: Client): Promise<void> {
  for (const table of ['recommendations', 'sentiment_phrases', 'citations', 'answer_mentions']) {
    await client.query(
      `delete from ${table} where answer_id in
         (select a.id from answers a join prompts p on p.id = a.prompt_id where p.brand_id = any($1))`,
      [BRANDS.map(({ id }) => id)],
    )
  }
  await client.query('delete from organizations where id = any($1)', [ALL.map(({ id }) => id)])
  await client.query('delete from users where id = any($1)', [ALL.map(({ owner }) => owner.id)])
}

function brandRow(brand: (typeof BRANDS)[number]) {
  const { id, organization, name, displayName, domain, industry, aliases, active = true } = brand
  return {
    id,
    organization_id: organization.id,
    name,
    display_name: displayName,
    url: domain,
    site_url: `https://www.${domain}`,
    industry,
    aliases,
    active,
    created_at: '2026-02-03T10:15:00Z',
  }
}

function keyRow({ label, key, organization, brands, expires, revoked }: (typeof KEYS)[number]) {
  return {
    id: demoId('key', label),
    organization_id: organization.id,
    created_by: organization.owner.id,
    scope: 'export',
    label: `Demo: ${label}`,
    key_hash: `\\x${createHash('sha256').update(key).digest('hex')}`,
    last_four: key.slice(-4),
    brand_ids: brands ?? null,
    expires_at: expires ?? null,
    revoked_at: revoked ?? null,
  }
}
