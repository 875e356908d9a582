import { eq, sql } from 'drizzle-orm'
import { changeKeys, findKey, KeyRequestError } from './change-keys.ts'
import {
  type Actor,
  apiKeys,
  type Database,
  insertKey,
  type ListedKey,
  type MadeKey,
  selectKeys,
} from './stored-keys.ts'

/** The shortest and the longest time for which a rotated key stays valid. */
const OVERLAP_MS = { min: 60_000, max: 30 * 86_400_000 } as const

/**
 * Creates the successor of a key and returns it, only this once (docs/keys.md, Rotate a key). The key expires after the
 * overlap. Throws {@link KeyRequestError} when the actor is not an owner or admin, or the key cannot be rotated.
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
  return changeKeys(db, actor, async (tx) => {
    const keys = await selectKeys(tx, actor, now)
    const old = findKey(keys, keyId)
    requireRotatable(old, keys, end)
    const { label, brandIds } = old
    const expiresAt = old.expiresAt && successorExpiry(old.expiresAt.getTime() - old.createdAt.getTime(), now)
    const { id, key } = await insertKey(tx, actor, { label, brandIds, expiresAt }, now)
    await tx.execute(sql`select set_config('export_api.successor', ${id}, true)`)
    await tx.update(apiKeys).set({ expires_at: end }).where(eq(apiKeys.id, old.id))
    return { ...findKey(await selectKeys(tx, actor, now), id), key }
  })
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
