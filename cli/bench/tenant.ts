import type { ClientBase } from 'pg'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { sha256 } from '../../lib/request/hash.ts'

/** An organization with the enterprise plan, and a key that reads all its brands. */
export type Tenant = { readonly organizationId: string; readonly key: string }

/** Prompts of a brand. */
const PROMPTS = 40

export async function addTenant(client: ClientBase): Promise<Tenant> {
  const key = mintApiKey()
  const { rows } = await client.query<{ id: string }>(
    `with organization as (insert into organizations (id, name) values (gen_random_uuid(), 'Bench') returning id),
       owner as (insert into users (id, email) values (gen_random_uuid(), gen_random_uuid() || '@mail.example') returning id),
       subscription as (insert into subscriptions (organization_id, plan, status) select id, 'enterprise', 'active' from organization),
       membership as (insert into memberships (organization_id, user_id, role)
         select organization.id, owner.id, 'owner' from organization, owner)
     insert into api_keys (organization_id, created_by, scope, label, key_hash, last_four)
     select organization.id, owner.id, 'export', 'Bench', decode($1, 'hex'), 'none' from organization, owner
     returning organization_id as id`,
    [await sha256(key)],
  )
  return { organizationId: rows[0]?.id ?? '', key }
}

/** Adds brands with prompts and three competitors each, and returns their ids. */
export async function addBrands(
  client: ClientBase,
  organizationId: string,
  count: number,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `with brand as (
       insert into brands (organization_id, name, display_name, url, site_url, aliases)
       select $1, 'Acme', 'Acme Corporation', 'acme.example', 'https://acme.example', '{Acme Inc}'
       from generate_series(1, $2::int) returning id
     ), prompt as (
       insert into prompts (brand_id, text) select id, 'Prompt ' || n from brand, generate_series(1, ${PROMPTS}) as n
     ), competitor as (
       insert into competitors (brand_id, name) select id, 'Rival ' || n from brand, generate_series(1, 3) as n
     )
     select id from brand`,
    [organizationId, count],
  )
  return rows.map(({ id }) => id)
}
