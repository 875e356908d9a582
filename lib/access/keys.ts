import { and, count, desc, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { source } from '../../drizzle/source/schema.ts'
import {
  sourceBrands as brands,
  sourceMemberships as memberships,
  sourceSubscriptions as subscriptions,
} from '../../drizzle/source/views.ts'
import { apiKeyColumns } from '../../drizzle/tables/api-keys.ts'
import { sha256Bytes } from '../hash.ts'
import { mintApiKey } from './api-key.ts'
import { PLANS } from './plans.ts'

// Writes go through the view, which finds the table in whatever schema it is.
const apiKeys = source.table('api_keys', apiKeyColumns())

/** Any Drizzle database with transactions: node-postgres, or Neon over WebSockets. */
export type Database = PgDatabase<PgQueryResultHKT>

/** The user who acts, and the organization. */
export type Actor = { readonly organizationId: string; readonly userId: string }

/**
 * What a new key may do. It reads every brand when `brandIds` is null and never expires when `expiresAt` is null. Brands
 * that are repeated, also in another case, are stored once.
 */
export type KeyRequest = {
  readonly label: string
  readonly brandIds: readonly string[] | null
  readonly expiresAt: Date | null
}

/** A key as listed, without the key itself. */
export type ListedKey = {
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

/** Thrown when a request is not allowed; the message says why. */
export class KeyRequestError extends Error {}

/**
 * Creates an export key and returns it, only this once. Throws {@link KeyRequestError} when the actor is not an owner or
 * admin, the plan's allowance is used up, a brand is not the organization's, the label is empty or the expiry is past.
 * Concurrent calls wait for each other, so the allowance holds.
 */
export async function createKey(
  db: Database,
  actor: Actor,
  request: KeyRequest,
  now: Date,
): Promise<ListedKey & { readonly key: string }> {
  const brandIds = request.brandIds && [...new Set(request.brandIds.map((id) => id.toLowerCase()))]
  // Read committed, whatever the default is: a transaction that waited for the lock must see the other one's key.
  return db.transaction(
    async (tx) => {
      // Postgres spells the id: callers may spell one UUID in several ways.
      const organization = sql`${actor.organizationId}::uuid::text`
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${organization}, 0))`)
      await requireRole(tx, actor)
      await requireAllowance(tx, actor, now)
      await requireBrands(tx, actor, brandIds)
      if (request.label.trim() === '') throw new KeyRequestError('The label is empty. Give the key a label.')
      if (request.expiresAt !== null && request.expiresAt <= now) {
        throw new KeyRequestError('The expiry is not in the future. Choose a later time.')
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
          brand_ids: brandIds,
          expires_at: request.expiresAt,
          created_at: now,
        })
        .returning()
      if (row === undefined) throw new Error('The database returned no key')
      return { ...toListedKey(row, now), key }
    },
    { isolationLevel: 'read committed' },
  )
}

/** Returns the organization's export keys, newest first. Throws {@link KeyRequestError} unless the actor is an owner or admin. */
export async function listKeys(db: Database, actor: Actor, now: Date): Promise<ListedKey[]> {
  await requireRole(db, actor)
  const rows = await db
    .select()
    .from(apiKeys)
    .where(exportKeysOf(actor))
    .orderBy(desc(apiKeys.created_at), apiKeys.id)
  return rows.map((row) => toListedKey(row, now))
}

/**
 * Revokes a key with immediate effect; does nothing to a revoked one. Throws {@link KeyRequestError} unless the actor is
 * an owner or admin and the organization has the key.
 */
export async function revokeKey(db: Database, actor: Actor, keyId: string, now: Date): Promise<ListedKey> {
  await requireRole(db, actor)
  const its = and(eq(apiKeys.id, keyId), exportKeysOf(actor))
  await db
    .update(apiKeys)
    .set({ revoked_at: now })
    .where(and(its, isNull(apiKeys.revoked_at)))
  const [row] = await db.select().from(apiKeys).where(its)
  if (row === undefined)
    throw new KeyRequestError('The organization has no key with this id. List its keys to find the id.')
  return toListedKey(row, now)
}

async function requireRole(db: Database, { organizationId, userId }: Actor): Promise<void> {
  const [membership] = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organization_id, organizationId), eq(memberships.user_id, userId)))
  if (membership?.role !== 'owner' && membership?.role !== 'admin') {
    throw new KeyRequestError('The user cannot manage keys. Use an owner or admin of the organization.')
  }
}

async function requireAllowance(db: Database, actor: Actor, now: Date): Promise<void> {
  const [subscription] = await db
    .select({ plan: subscriptions.plan })
    .from(subscriptions)
    .where(and(eq(subscriptions.organization_id, actor.organizationId), eq(subscriptions.status, 'active')))
  const allowance = subscription === undefined ? 0 : PLANS[subscription.plan].keys
  if (subscription === undefined || allowance === 0) {
    throw new KeyRequestError(
      'The organization has no active plan that includes the Export API. Ask its owner to activate one.',
    )
  }
  const active = and(isNull(apiKeys.revoked_at), or(isNull(apiKeys.expires_at), gt(apiKeys.expires_at, now)))
  const [used] = await db
    .select({ keys: count() })
    .from(apiKeys)
    .where(and(exportKeysOf(actor), active))
  if (used === undefined || used.keys >= allowance) {
    throw new KeyRequestError(
      `The ${subscription.plan} plan allows ${allowance} active keys, and all are in use. Revoke one first.`,
    )
  }
}

/** Throws unless the brands, each named once, are the organization's. */
async function requireBrands(db: Database, { organizationId }: Actor, ids: string[] | null): Promise<void> {
  if (ids === null || ids.length === 0) return
  const own = await db
    .select({ id: brands.id })
    .from(brands)
    .where(and(eq(brands.organization_id, organizationId), inArray(brands.id, ids)))
  if (own.length < ids.length) {
    throw new KeyRequestError("A listed brand is not the organization's. List only its own brands.")
  }
}

const exportKeysOf = ({ organizationId }: Actor) =>
  and(eq(apiKeys.organization_id, organizationId), eq(apiKeys.scope, 'export'))

function toListedKey(row: typeof apiKeys.$inferSelect, now: Date): ListedKey {
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
