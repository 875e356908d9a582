import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { mintApiKey, sha256 } from '../../lib/api-key.ts'

/** An enterprise organization's key, its hash, and the organization. */
export type Tenant = { readonly organizationId: string; readonly key: string; readonly keyHash: string }

/** Prompts of a brand. */
export const PROMPTS = 40

/** Adds an organization and a key that reads all its brands. */
export async function tenant(client: ClientBase): Promise<Tenant> {
  const organizationId = randomUUID()
  const userId = randomUUID()
  const key = mintApiKey()
  const keyHash = await sha256(key)
  await client.query(`insert into organizations (id, name) values ($1, 'Bench')`, [organizationId])
  await client.query('insert into users (id, email) values ($1, $2)', [userId, `${userId}@mail.example`])
  await client.query(`insert into memberships (organization_id, user_id, role) values ($1, $2, 'owner')`, [
    organizationId,
    userId,
  ])
  await client.query(
    `insert into subscriptions (organization_id, plan, status) values ($1, 'enterprise', 'active')`,
    [organizationId],
  )
  await client.query(
    `insert into api_keys (organization_id, created_by, scope, label, key_hash, last_four)
     values ($1, $2, 'export', 'Bench', decode($3, 'hex'), 'none')`,
    [organizationId, userId, keyHash],
  )
  return { organizationId, key, keyHash }
}

/** Adds a brand with prompts and three competitors; gives its id. */
export async function addBrand(
  client: ClientBase,
  { organizationId }: Pick<Tenant, 'organizationId'>,
): Promise<string> {
  const id = randomUUID()
  await client.query(
    `insert into brands (id, organization_id, name, display_name, url, site_url, aliases)
     values ($1, $2, 'Acme', 'Acme Corporation', 'acme.example', 'https://acme.example', '{Acme Inc}')`,
    [id, organizationId],
  )
  await client.query(
    `insert into prompts (brand_id, text) select $1::uuid, 'Prompt ' || n from generate_series(1, $2::int) as n`,
    [id, PROMPTS],
  )
  await client.query(
    `insert into competitors (brand_id, name) select $1::uuid, 'Rival ' || n from generate_series(1, 3) as n`,
    [id],
  )
  return id
}
