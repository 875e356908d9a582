import { sql } from 'drizzle-orm'
import type { Context } from 'hono'
import { isApiKey, sha256 } from './api-key.ts'
import { asCells, type Cell, type Reader, run, unavailable } from './db.ts'
import { httpError } from './errors.ts'
import { isPlan, type Plan } from './plans.ts'
import { prepare } from './prepared-statement.ts'
import type { RequestLog } from './request-log.ts'
import { activeKey } from './scope.ts'

/** Whom a key speaks for, as the database said it for this very request. */
export type Access = { readonly keyId: string; readonly organizationId: string; readonly plan: Plan }

/** SHA-256 (hex) of the key that a request presents; 401 when its form is wrong, without asking the database. */
export async function hashApiKey(context: Context): Promise<string> {
  const key = context.req.header('X-API-Key')
  if (key === undefined || !isApiKey(key)) throw httpError('key')
  return sha256(key)
}

/**
 * The key's gate and then the plan's, from `[key_id, organization_id, plan, …]`; null for a key that reads nothing.
 * Whose key it is goes into the log. A header that does not say is the database's failure, not the key's.
 */
export function authorize(header: readonly Cell[] | null, log: RequestLog): Access {
  if (header === null) throw httpError('key')
  const [keyId, organizationId, plan] = header
  if (keyId == null || organizationId == null || plan === undefined) {
    throw unavailable(new TypeError('The header is too short'), log)
  }
  log.keyId = keyId
  log.organizationId = organizationId
  if (!isPlan(plan)) throw httpError('plan')
  return { keyId, organizationId, plan }
}

const query = prepare(sql`
  select json_build_array(access.key_id, access.organization_id, access.plan)::text from (${activeKey}) as access`)

/** The key's and the plan's gates alone, for a request that ends at a later gate anyway. */
export async function requireAccess(
  { env, log }: Reader & { readonly log: RequestLog },
  { key_hash, now }: { key_hash: string; now: Date },
): Promise<Access> {
  const [row] = await run({ env, log }, query, { key_hash, now: now.toISOString() })
  return authorize(readHeader(row, log), log)
}

/** The access cells as a statement wrote them: a JSON array in the first cell of its first row; null without a row. */
export function readHeader(row: readonly Cell[] | undefined, log: RequestLog | null): readonly Cell[] | null {
  if (row === undefined) return null
  try {
    return asCells(JSON.parse(row[0] ?? ''))
  } catch (error) {
    throw unavailable(error, log)
  }
}
