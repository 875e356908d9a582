import type pg from 'pg'
import { brand, exportKey, type Organization, organization, type Values } from './world.ts'

/** An organization with one brand and a key that reads it. */
export type Tenant = {
  readonly org: Organization
  readonly brandId: string
  readonly keyId: string
  readonly key: string
}

export type Terms = {
  /** The active plan; null for an organization that never had a subscription. */
  readonly plan?: string | null
  readonly status?: string
  /** Columns of the key. */
  readonly key?: Values
}

/** Seeds a {@link Tenant}; enterprise and unrestricted unless said otherwise. */
export async function tenant(
  db: pg.Pool,
  { plan = 'enterprise', status = 'active', key: values = {} }: Terms = {},
): Promise<Tenant> {
  const org = await organization(db, plan === null ? null : { plan, status })
  const [brandId, { id: keyId, key }] = await Promise.all([brand(db, org), exportKey(db, org, values)])
  return { org, brandId, keyId, key }
}
