import type { ClientBase } from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { addBrand, addTenant } from '../bench/tenant.ts'
import { fill, LAST_DAY } from '../bench/volume.ts'

export const DAYS = 90

export const FIRST_DAY = new Date(Date.parse(LAST_DAY) - (DAYS - 1) * 86_400_000).toISOString().slice(0, 10)

/** A brand, and a key that reads it. */
export type BrandKey = { readonly organizationId: string; readonly brandId: string; readonly key: string }

/** Adds organizations with two brands each, and refreshes the daily rows. */
export async function addData(
  client: ClientBase,
  volume: { readonly organizations: number; readonly answers: number },
): Promise<BrandKey[]> {
  const keys: BrandKey[] = []
  for (let index = 0; index < volume.organizations; index += 1) {
    const { organizationId, key } = await addTenant(client)
    for (let brand = 0; brand < 2; brand += 1) {
      const brandId = await addBrand(client, organizationId)
      await fill(client, { brandId, answers: volume.answers, days: DAYS, citations: [1, 4] })
      keys.push({ organizationId, brandId, key })
    }
  }
  await client.query('analyze')
  await refreshAll(client, undefined, { brands: 100, days: 400 })
  await client.query('vacuum analyze')
  return keys
}
