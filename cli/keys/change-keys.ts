import { and, eq, sql } from 'drizzle-orm'
import { sourceMemberships as memberships } from '../../drizzle/source/views.ts'
import type { Actor, Database, ListedKey } from './stored-keys.ts'

/** Thrown when a request is not allowed; the message says why. */
export class KeyRequestError extends Error {}

/**
 * Runs a change of an organization's keys in one transaction, which the database logs under the actor's name. Concurrent
 * changes wait for each other.
 */
export function changeKeys<Result>(
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
      await tx.execute(sql`select set_config('export_api.actor', ${actor.userId}, true)`)
      return work(tx)
    },
    { isolationLevel: 'read committed' },
  )
}

/** Returns a key of an organization. Throws {@link KeyRequestError} when it has none with this id. */
export function findKey(keys: readonly ListedKey[], keyId: string): ListedKey {
  const key = keys.find(({ id }) => id === keyId.toLowerCase())
  if (key !== undefined) return key
  throw new KeyRequestError('The organization has no key with this id. List its keys to find the id.')
}

/** Throws {@link KeyRequestError} unless the actor is an owner or admin. */
export async function requireRole(db: Database, { organizationId, userId }: Actor): Promise<void> {
  const [membership] = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organization_id, organizationId), eq(memberships.user_id, userId)))
  if (membership?.role !== 'owner' && membership?.role !== 'admin') {
    throw new KeyRequestError('The user cannot manage keys. Use an owner or admin of the organization.')
  }
}
