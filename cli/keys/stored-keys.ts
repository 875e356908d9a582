import { and, desc, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import { alias, type PgDatabase, type PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { source } from '../../drizzle/source/views.ts'
import { apiKeyColumns } from '../../drizzle/tables/application.ts'
import { keyLog } from '../../drizzle/tables/refresh.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { sha256Bytes } from '../../lib/request/hash.ts'

// Writes go through the view, which finds the table in whatever schema it is.
export const apiKeys = source.table('api_keys', apiKeyColumns())

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
  /** The id of the key that it replaces, or that replaces it. */
  readonly replaces: string | null
  readonly replacedBy: string | null
}

/** What the list has of a key that was made, and the key itself. */
export type MadeKey = ListedKey & { readonly key: string }

/** Stores a new key. Returns its id and the key itself. */
export async function insertKey(tx: Database, actor: Actor, request: KeyRequest, now: Date) {
  const key = mintApiKey()
  const { label, brandIds, expiresAt } = request
  const [row] = await tx
    .insert(apiKeys)
    .values({
      organization_id: actor.organizationId,
      created_by: actor.userId,
      scope: 'export',
      label,
      key_hash: await sha256Bytes(key),
      last_four: key.slice(-4),
      brand_ids: brandIds && [...brandIds],
      expires_at: expiresAt,
      created_at: now,
    })
    .returning({ id: apiKeys.id })
  if (row === undefined) throw new Error('The database returned no key')
  return { ...row, key }
}

/** The columns of a key. An expiry at infinity, which no Date has, is none. */
const keyColumns = {
  ...getTableColumns(apiKeys),
  expires_at: sql<Date | null>`nullif(${apiKeys.expires_at}, 'infinity')`.mapWith(apiKeys.expires_at),
}

/** Returns the organization's export keys, newest first. A rotation counts while the successor exists. */
export async function selectKeys(db: Database, actor: Actor, now: Date): Promise<ListedKey[]> {
  const [rotation, replacement] = [alias(keyLog, 'rotation'), alias(keyLog, 'replacement')]
  const existing = db.select({ id: apiKeys.id }).from(apiKeys)
  const rows = await db
    .select({ key: keyColumns, replacedBy: rotation.successor_id, replaces: replacement.key_id })
    .from(apiKeys)
    .leftJoin(rotation, and(eq(rotation.key_id, apiKeys.id), inArray(rotation.successor_id, existing)))
    .leftJoin(replacement, eq(replacement.successor_id, apiKeys.id))
    .where(exportKeysOf(actor))
    .orderBy(desc(apiKeys.created_at), apiKeys.id)
  return rows.map(({ key, ...links }) => {
    const expired = key.expires_at !== null && key.expires_at <= now
    return {
      id: key.id,
      label: key.label,
      lastFour: key.last_four,
      state: key.revoked_at !== null ? 'revoked' : expired ? 'expired' : 'active',
      brandIds: key.brand_ids,
      createdBy: key.created_by,
      createdAt: key.created_at,
      expiresAt: key.expires_at,
      revokedAt: key.revoked_at,
      ...links,
    }
  })
}

/** SQL condition: an export key of the organization. */
export const exportKeysOf = ({ organizationId }: Actor) =>
  and(eq(apiKeys.organization_id, organizationId), eq(apiKeys.scope, 'export'))
