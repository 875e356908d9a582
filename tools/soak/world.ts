import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { mintApiKey, sha256 } from '../../lib/api-key.ts'
import { addBrand, tenant } from '../bench/tenant.ts'
import { fill, LAST_DAY } from '../bench/volume.ts'

/** Days of history of each brand. */
export const DAYS = 90

/** The first of them. */
export const FIRST_DAY = new Date(Date.parse(LAST_DAY) - (DAYS - 1) * 86_400_000).toISOString().slice(0, 10)

/** A brand, and a key that reads it. */
export type Place = { readonly organizationId: string; readonly brandId: string; readonly key: string }

/** Fills a database with organizations of two brands each, and computes their daily rows. */
export async function settle(client: ClientBase, organizations: number, answers: number): Promise<Place[]> {
  const places: Place[] = []
  for (let index = 0; index < organizations; index += 1) {
    const { organizationId, key } = await tenant(client)
    for (let brand = 0; brand < 2; brand += 1) {
      const brandId = await addBrand(client, { organizationId })
      await fill(client, { brandId, answers, days: DAYS, citations: [1, 4] })
      places.push({ organizationId, brandId, key })
    }
  }
  await client.query('analyze')
  await refreshAll(client, undefined, { brands: 100, days: 400 })
  await client.query('vacuum analyze')
  return places
}

/** Makes one more key of an organization, for its owner. */
export async function addKey(
  client: ClientBase,
  organizationId: string,
): Promise<{ id: string; key: string }> {
  const id = randomUUID()
  const key = mintApiKey()
  await client.query(
    `insert into api_keys (id, organization_id, created_by, scope, label, key_hash, last_four)
     select $1, organization_id, user_id, 'export', 'Soak', decode($3, 'hex'), 'none'
     from memberships where organization_id = $2 and role = 'owner'`,
    [id, organizationId, await sha256(key)],
  )
  return { id, key }
}
