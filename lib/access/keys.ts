import { and, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { keyLog } from '../../drizzle/refresh/key-log.ts'
import {
  sourceBrands as brands,
  sourceMemberships as memberships,
  sourceSubscriptions as subscriptions,
} from '../../drizzle/source/views.ts'
import { PLANS } from './plans.ts'
import {
  type Actor,
  apiKeys,
  type Database,
  exportKeysOf,
  insertKey,
  type KeyRequest,
  type ListedKey,
  logKey,
  type MadeKey,
  selectKeys,
} from './stored-keys.ts'

/** The shortest and the longest time for which a rotated key stays valid. */
const OVERLAP_MS = { min: 60_000, max: 30 * 86_400_000 } as const

/** Thrown when a request is not allowed; the message says why. */
export class KeyRequestError extends Error {}

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
  return change(db, actor, async (tx) => {
    await requireAllowance(tx, actor, now)
    await requireBrands(tx, actor, brandIds)
    if (request.label.trim() === '') throw new KeyRequestError('The label is empty. Give the key a label.')
    if (request.expiresAt !== null && request.expiresAt <= now) {
      throw new KeyRequestError('The expiry is not in the future. Choose a later time.')
    }
    const { id, key } = await insertKey(tx, actor, { ...request, brandIds }, now)
    await logKey(tx, actor, { key_id: id, event: 'created', at: now })
    return { ...findKey(await selectKeys(tx, actor, now), id), key }
  })
}

/** Returns the organization's export keys, newest first. Throws {@link KeyRequestError} unless the actor is an owner or admin. */
export async function listKeys(db: Database, actor: Actor, now: Date): Promise<ListedKey[]> {
  await requireRole(db, actor)
  return selectKeys(db, actor, now)
}

/**
 * Creates the successor of a key and returns it, only this once. It reads the same brands, has the same label and lives
 * as long as the key was created to. The key expires after the overlap. Until then the two count once against the plan's
 * allowance. Throws {@link KeyRequestError} when the actor is not an owner or admin, the overlap is too short or too
 * long, or the key is not active, was rotated, expires sooner or replaces a key that is still active.
 */
export async function rotateKey(
  db: Database,
  actor: Actor,
  { keyId, overlapMs }: { readonly keyId: string; readonly overlapMs: number },
  now: Date,
): Promise<MadeKey> {
  if (!(overlapMs >= OVERLAP_MS.min && overlapMs <= OVERLAP_MS.max)) {
    throw new KeyRequestError('The overlap is not between one minute and 30 days. Choose another one.')
  }
  const end = new Date(now.getTime() + overlapMs)
  return change(db, actor, async (tx) => {
    const keys = await selectKeys(tx, actor, now)
    const old = findKey(keys, keyId)
    requireRotatable(old, keys, end)
    const { label, brandIds } = old
    const expiresAt = old.expiresAt && successorExpiry(old.expiresAt.getTime() - old.createdAt.getTime(), now)
    const { id, key } = await insertKey(tx, actor, { label, brandIds, expiresAt }, now)
    await tx.update(apiKeys).set({ expires_at: end }).where(eq(apiKeys.id, old.id))
    await logKey(tx, actor, { key_id: old.id, event: 'rotated', at: now, successor_id: id })
    return { ...findKey(await selectKeys(tx, actor, now), id), key }
  })
}

/**
 * Revokes a key with immediate effect; does nothing to a revoked one. Throws {@link KeyRequestError} unless the actor is
 * an owner or admin and the organization has the key.
 */
export async function revokeKey(db: Database, actor: Actor, keyId: string, now: Date): Promise<ListedKey> {
  return change(db, actor, async (tx) => {
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revoked_at: now })
      .where(and(eq(apiKeys.id, keyId), exportKeysOf(actor), isNull(apiKeys.revoked_at)))
      .returning({ key_id: apiKeys.id })
    if (revoked !== undefined) await logKey(tx, actor, { ...revoked, event: 'revoked', at: now })
    return findKey(await selectKeys(tx, actor, now), keyId)
  })
}

/**
 * Returns who created, rotated and revoked keys of the organization, newest first. Throws {@link KeyRequestError} unless
 * the actor is an owner or admin.
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

/** Runs a change of an organization's keys in one transaction. Concurrent changes wait for each other. */
function change<Result>(
  db: Database,
  actor: Actor,
  work: (tx: Database) => Promise<Result>,
): Promise<Result> {
  // Read committed, whatever the default is: a transaction that waited for the lock must see the other one's key.
  return db.transaction(
    async (tx) => {
      // Postgres spells the id: callers may spell one UUID in several ways.
      const organization = sql`${actor.organizationId}::uuid::text`
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${organization}, 0))`)
      await requireRole(tx, actor)
      return work(tx)
    },
    { isolationLevel: 'read committed' },
  )
}

function findKey(keys: readonly ListedKey[], keyId: string): ListedKey {
  const key = keys.find(({ id }) => id === keyId.toLowerCase())
  if (key !== undefined) return key
  throw new KeyRequestError('The organization has no key with this id. List its keys to find the id.')
}

/** The last time that a Date and Postgres spell alike. */
const LAST_MS = Date.UTC(10_000, 0) - 1

function successorExpiry(lifetimeMs: number, now: Date): Date {
  if (lifetimeMs > 0) return new Date(Math.min(now.getTime() + lifetimeMs, LAST_MS))
  throw new KeyRequestError(
    'The key has no lifetime: its creation is not a time before its expiry. Create a new one.',
  )
}

/** Throws unless the key, one of an organization's `keys`, can be rotated with an overlap until `end`. */
function requireRotatable(key: ListedKey, keys: readonly ListedKey[], end: Date): void {
  if (key.replacedBy !== null) {
    const { id, state } = lastSuccessor(key, keys)
    throw new KeyRequestError(
      state === 'active'
        ? `The key was already rotated. Rotate its successor, ${id}.`
        : `The key was already rotated, and its successor, ${id}, is ${state}. Create a new one.`,
    )
  }
  if (key.state !== 'active') throw new KeyRequestError(`The key is ${key.state}. Create a new one.`)
  if (key.expiresAt !== null && key.expiresAt < end) {
    const expiry = key.expiresAt.toISOString()
    throw new KeyRequestError(
      `The key expires at ${expiry}, before the overlap ends. Choose a shorter overlap.`,
    )
  }
  if (keys.some(({ id, state }) => id === key.replaces && state === 'active')) {
    throw new KeyRequestError(
      `The key that it replaces is still active. Revoke that one first: ${key.replaces}.`,
    )
  }
}

function lastSuccessor(key: ListedKey, keys: readonly ListedKey[]): ListedKey {
  const next = keys.find(({ id }) => id === key.replacedBy)
  return next === undefined ? key : lastSuccessor(next, keys)
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
