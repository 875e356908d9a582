import { and, count, desc, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { source } from '../drizzle/source/schema.ts'
import {
  sourceBrands as brands,
  sourceMemberships as memberships,
  sourceSubscriptions as subscriptions,
} from '../drizzle/source/views.ts'
import { apiKeyColumns } from '../drizzle/tables/api-keys.ts'
import { mintApiKey, sha256Bytes } from './api-key.ts'
import { PLANS } from './plans.ts'

// Written to through its view, so that it is found wherever it is.
const apiKeys = source.table('api_keys', apiKeyColumns())

/** Any Drizzle database with transactions: node-postgres, or Neon over WebSockets. */
export type Database = PgDatabase<PgQueryResultHKT>

/** Who acts, and in which organization. */
export type Actor = { readonly organizationId: string; readonly userId: string }

/** What a new key may do; every brand when `brandIds` is null, for ever when `expiresAt` is null. */
export type KeyRequest = {
  readonly label: string
  readonly brandIds: readonly string[] | null
  readonly expiresAt: Date | null
}

/** A key as it is listed: never the key itself. */
export type KeyListing = {
  readonly id: string
  readonly label: string
  readonly lastFour: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly brandIds: readonly string[] | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** A change that is not allowed; the message is a sentence for whoever asked. */
export class KeyRequestError extends Error {}

/**
 * Makes an export key and returns it, this once (specification, sections 3 and 5). Throws {@link KeyRequestError} when the
 * actor is no owner or admin, the plan or its allowance does not cover another key, a brand is not the organization's,
 * the label is empty or the expiry is past. Two creations at once wait for each other, so the allowance holds.
 */
export async function createKey(
  db: Database,
  actor: Actor,
  request: KeyRequest,
  now: Date,
): Promise<KeyListing & { readonly key: string }> {
  // Read committed, whatever the database's default is: what waited for the lock must see what it waited for.
  return db.transaction(
    async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${actor.organizationId}, 0))`)
      await demandRole(tx, actor)
      await demandAllowance(tx, actor, now)
      await demandBrands(tx, actor, request.brandIds)
      if (request.label.trim() === '') throw new KeyRequestError('A key needs a label.')
      if (request.expiresAt !== null && request.expiresAt <= now) {
        throw new KeyRequestError('The expiry of a key must be in the future.')
      }

      const key = mintApiKey()
      const [row] = await tx
        .insert(apiKeys)
        .values({
          organization_id: actor.organizationId,
          created_by: actor.userId,
          scope: 'export',
          label: request.label,
          key_hash: await sha256Bytes(key),
          last_four: key.slice(-4),
          brand_ids: request.brandIds === null ? null : [...request.brandIds],
          expires_at: request.expiresAt,
          created_at: now,
        })
        .returning()
      if (row === undefined) throw new Error('The database returned no key')
      return { ...present(row, now), key }
    },
    { isolationLevel: 'read committed' },
  )
}

/** The organization's export keys, newest first. Throws {@link KeyRequestError} when the actor is no owner or admin. */
export async function listKeys(db: Database, actor: Actor, now: Date): Promise<KeyListing[]> {
  await demandRole(db, actor)
  const rows = await db
    .select()
    .from(apiKeys)
    .where(exportKeysOf(actor))
    .orderBy(desc(apiKeys.created_at), apiKeys.id)
  return rows.map((row) => present(row, now))
}

/**
 * Revokes a key at once; one that is revoked already stays as it was. Throws {@link KeyRequestError} when the actor is no
 * owner or admin, or the organization has no such key.
 */
export async function revokeKey(db: Database, actor: Actor, keyId: string, now: Date): Promise<KeyListing> {
  await demandRole(db, actor)
  const its = and(eq(apiKeys.id, keyId), exportKeysOf(actor))
  await db
    .update(apiKeys)
    .set({ revoked_at: now })
    .where(and(its, isNull(apiKeys.revoked_at)))
  const [row] = await db.select().from(apiKeys).where(its)
  if (row === undefined) throw new KeyRequestError('The organization has no such key.')
  return present(row, now)
}

async function demandRole(db: Database, { organizationId, userId }: Actor): Promise<void> {
  const [membership] = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organization_id, organizationId), eq(memberships.user_id, userId)))
  if (membership?.role !== 'owner' && membership?.role !== 'admin') {
    throw new KeyRequestError('Only an owner or admin of the organization may create, list or revoke keys.')
  }
}

async function demandAllowance(db: Database, actor: Actor, now: Date): Promise<void> {
  const [subscription] = await db
    .select({ plan: subscriptions.plan })
    .from(subscriptions)
    .where(and(eq(subscriptions.organization_id, actor.organizationId), eq(subscriptions.status, 'active')))
  const allowance = subscription === undefined ? 0 : PLANS[subscription.plan].keys
  if (subscription === undefined || allowance === 0) {
    throw new KeyRequestError('The organization has no active plan that includes the Export API.')
  }
  const active = and(isNull(apiKeys.revoked_at), or(isNull(apiKeys.expires_at), gt(apiKeys.expires_at, now)))
  const [used] = await db
    .select({ keys: count() })
    .from(apiKeys)
    .where(and(exportKeysOf(actor), active))
  if (used === undefined || used.keys >= allowance) {
    throw new KeyRequestError(
      `All ${allowance} keys of the ${subscription.plan} plan are in use; revoke one first.`,
    )
  }
}

async function demandBrands(
  db: Database,
  { organizationId }: Actor,
  ids: readonly string[] | null,
): Promise<void> {
  if (ids === null || ids.length === 0) return
  const own = await db
    .select({ id: brands.id })
    .from(brands)
    .where(and(eq(brands.organization_id, organizationId), inArray(brands.id, [...ids])))
  if (own.length < new Set(ids.map((id) => id.toLowerCase())).size) {
    throw new KeyRequestError('Every listed brand must belong to the organization.')
  }
}

const exportKeysOf = ({ organizationId }: Actor) =>
  and(eq(apiKeys.organization_id, organizationId), eq(apiKeys.scope, 'export'))

function present(row: typeof apiKeys.$inferSelect, now: Date): KeyListing {
  const expired = row.expires_at !== null && row.expires_at <= now
  return {
    id: row.id,
    label: row.label,
    lastFour: row.last_four,
    state: row.revoked_at !== null ? 'revoked' : expired ? 'expired' : 'active',
    brandIds: row.brand_ids,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}
