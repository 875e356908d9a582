import { and, desc, eq, inArray, isNull } from 'drizzle-orm'
import { sourceBrands as brands, sourceSubscriptions as subscriptions } from '../../drizzle/source/views.ts'
import { keyLog } from '../../drizzle/tables/refresh.ts'
import { PLANS } from '../../lib/access/plans.ts'
import { changeKeys, findKey, KeyRequestError, requireRole } from './change-keys.ts'
import {
  type Actor,
  apiKeys,
  type Database,
  exportKeysOf,
  insertKey,
  type KeyRequest,
  type ListedKey,
  type MadeKey,
  selectKeys,
} from './stored-keys.ts'

/**
 * Creates an export key and returns it, only this once. Throws {@link KeyRequestError} when the actor is not an owner or
 * admin, the plan's allowance is used up, a brand is not the organization's, the label is empty or the expiry is past.
 */
export async function createKey(
  db: Database,
  actor: Actor,
  request: KeyRequest,
  now: Date,
): Promise<MadeKey> {
  const brandIds = request.brandIds && [...new Set(request.brandIds.map((id) => id.toLowerCase()))]
  return changeKeys(db, actor, async (tx) => {
    await requireAllowance(tx, actor, now)
    await requireBrands(tx, actor, brandIds)
    if (request.label.trim() === '') throw new KeyRequestError('The label is empty. Give the key a label.')
    if (request.expiresAt !== null && request.expiresAt <= now) {
      throw new KeyRequestError('The expiry is not in the future. Choose a later time.')
    }
    const { id, key } = await insertKey(tx, actor, { ...request, brandIds }, now)
    return { ...findKey(await selectKeys(tx, actor, now), id), key }
  })
}

/** Returns the organization's export keys, newest first. Throws {@link KeyRequestError} unless the actor is an owner or admin. */
export async function listKeys(db: Database, actor: Actor, now: Date): Promise<ListedKey[]> {
  await requireRole(db, actor)
  return selectKeys(db, actor, now)
}

/**
 * Revokes a key with immediate effect; does nothing to a revoked one. Throws {@link KeyRequestError} unless the actor is
 * an owner or admin and the organization has the key.
 */
export async function revokeKey(db: Database, actor: Actor, keyId: string, now: Date): Promise<ListedKey> {
  return changeKeys(db, actor, async (tx) => {
    await tx
      .update(apiKeys)
      .set({ revoked_at: now })
      .where(and(eq(apiKeys.id, keyId), exportKeysOf(actor), isNull(apiKeys.revoked_at)))
    return findKey(await selectKeys(tx, actor, now), keyId)
  })
}

/**
 * Returns who created, rotated and revoked keys of the organization, newest first. `userId` is null for a statement that
 * named no user. Throws {@link KeyRequestError} unless the actor is an owner or admin.
 */
export async function readKeyLog(db: Database, actor: Actor) {
  await requireRole(db, actor)
  const { at, event, key_id: keyId, user_id: userId, successor_id: successorId } = keyLog
  return db
    .select({ at, event, keyId, userId, successorId })
    .from(keyLog)
    .where(eq(keyLog.organization_id, actor.organizationId))
    .orderBy(desc(at), keyId, event)
}

/** What a user did with a key, and when. A rotated key has a successor. */
export type LoggedEvent = Awaited<ReturnType<typeof readKeyLog>>[number]

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
  const keys = await selectKeys(db, actor, now)
  const active = new Map(keys.filter(({ state }) => state === 'active').map((key) => [key.id, key]))
  const used = [...active.values()].filter(({ replacedBy }) => replacedBy === null || !active.has(replacedBy))
  if (used.length >= allowance) {
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
