import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { mintApiKey } from '../../lib/access/api-key.ts'
import { sha256 } from '../../lib/hash.ts'

/** An organization with the enterprise plan, and a key that reads all its brands. */
export type Tenant = { readonly organizationId: string; readonly key: string }

/** Prompts of a brand. */
const PROMPTS = 40

export async function addTenant(client: ClientBase): Promise<Tenant> {
  const organizationId = randomUUID()
  const userId = randomUUID()
  await client.query(
    `with organization as (insert into organizations (id, name) values ($1, 'Bench')),
       owner as (insert into users (id, email) values ($2::uuid, $2::text || '@mail.example'))
     insert into subscriptions (organization_id, plan, status) values ($1, 'enterprise', 'active')`,
    [organizationId, userId],
  )
  await client.query(`insert into memberships (organization_id, user_id, role) values ($1, $2, 'owner')`, [
    organizationId,
    userId,
  ])
  const key = mintApiKey()
  await client.query(
    `insert into api_keys (organization_id, created_by, scope, label, key_hash, last_four)
     values ($1, $2, 'export', 'Bench', decode($3, 'hex'), 'none')`,
    [organizationId, userId, await sha256(key)],
  )
  return { organizationId, key }
}

/** Adds a brand with prompts and three competitors, and returns its id. */
export async function addBrand(
  client: ClientBase,
  organizationId: string,
  prompts = PROMPTS,
): Promise<string> {
  const id = randomUUID()
  await client.query(
    `insert into brands (id, organization_id, name, display_name, url, site_url, aliases)
     values ($1, $2, 'Acme', 'Acme Corporation', 'acme.example', 'https://acme.example', '{Acme Inc}')`,
    [id, organizationId],
  )
  await client.query(
    `insert into prompts (brand_id, text) select $1::uuid, 'Prompt ' || n from generate_series(1, $2::int) as n`,
    [id, prompts],
  )
  await client.query(
    `insert into competitors (brand_id, name) select $1::uuid, 'Rival ' || n from generate_series(1, 3) as n`,
    [id],
  )
  return id
}
