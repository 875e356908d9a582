import { type SQL, sql } from 'drizzle-orm'
import { databaseError, type Row, run } from '../database/db.ts'
import { renderStatement } from '../database/statement.ts'
import type { RequestContext, RequestLog } from '../request/context.ts'
import { httpError } from '../request/errors.ts'
import { isPlan, PAID_PLANS, type Plan } from './plans.ts'

/**
 * SQL of the active key with a hash, at most one row: `key_id`, `organization_id`, `brand_ids` and `plan`. No row means
 * 401, a null plan 403 (docs/specification.md, Access). Placeholders: `key_hash` (hex) and `now`.
 */
export const activeKey: SQL = sql`
  select keys.id as key_id, keys.organization_id, keys.brand_ids, subscriptions.plan
  from export_source.api_keys as keys
  join export_source.memberships
    on memberships.organization_id = keys.organization_id
    and memberships.user_id = keys.created_by
    and memberships.role in ('owner', 'admin')
  left join export_source.subscriptions
    on subscriptions.organization_id = keys.organization_id
    and subscriptions.status = 'active'
    and subscriptions.plan in (${sql.join(
      PAID_PLANS.map((plan) => sql.raw(`'${plan}'`)),
      sql`, `,
    )})
  where keys.key_hash = decode(${sql.placeholder('key_hash')}, 'hex')
    and keys.scope = 'export'
    and keys.revoked_at is null
    and (keys.expires_at is null or keys.expires_at > ${sql.placeholder('now')}::timestamptz)`

/** The columns by which every statement reports whose key it found, for `authorize`. */
export const ACCESS_COLUMNS = ['key_id', 'organization_id', 'plan'] as const

/** SQL of {@link ACCESS_COLUMNS}, from a relation with the columns of `activeKey`. */
export const accessColumns: SQL = sql.raw(ACCESS_COLUMNS.map((name) => `${name}::text`).join(', '))

/** SQL condition: the key of `access`, a row of {@link activeKey}, reads the brand of `brand`. */
const reads = (isListed: SQL): SQL => sql`(
    brand.organization_id = access.organization_id
    and brand.active
    and access.plan is not null
    and (access.brand_ids is null or ${isListed}))`

/** {@link reads} for one brand: searches the key's list. */
export const canRead: SQL = reads(sql`brand.id = any (access.brand_ids)`)

/** {@link reads} for many brands: hashes the list of the relation `access` once, instead of a search for each brand. */
export const canReadEach: SQL = reads(sql`brand.id in (select unnest(brand_ids) from access)`)

/** SQL aggregate of brand ids: the XOR of the first 60 bits of the MD5 of each, as 15 hex digits; zeros for none. */
export const brandsDigest = (id: SQL): SQL =>
  sql`lpad(to_hex(coalesce(bit_xor(('x' || left(md5(${id}::text), 15))::bit(60)::bigint), 0)), 15, '0')`

/** Finds key and plan alone. */
const accessStatement = renderStatement(sql`select ${accessColumns} from (${activeKey}) as access`)

/** What access reads of a request's context. */
type Access = { readonly var: Pick<RequestContext['var'], 'env' | 'log' | 'now'> }

/** Returns the SHA-256 (hex) of the request's API key; throws 401 when its form is wrong, without asking the database. */
export function requireKeyHash(context: Access): string {
  const { keyHash } = context.var.log
  if (keyHash === null) throw httpError('key')
  return keyHash
}

/** A row of a statement that found an active key and a plan. */
type AuthorizedRow = Row & { readonly plan: Plan; readonly organization_id: string }

/**
 * Checks the key and then the plan that a statement found, logs whose key it is, and returns the row. Throws 401
 * without a row, 403 without a plan: {@link activeKey} has only plans that include the API.
 */
export function authorize(row: Row | null, log: RequestLog): AuthorizedRow {
  if (row === null) throw httpError('key')
  const { key_id, organization_id, plan } = row
  if (key_id == null || organization_id == null || plan === undefined) {
    throw databaseError(new TypeError('The access columns are missing'), log)
  }
  log.keyId = key_id
  log.organizationId = organization_id
  if (!isPlan(plan)) throw httpError('plan')
  return { ...row, plan, organization_id }
}

/** Returns what `parse` returns. When it throws, checks key and plan, whose errors come before its own. */
export async function accessErrorsFirst<Parsed>(
  context: Access,
  parse: () => Parsed | Promise<Parsed>,
): Promise<Parsed> {
  const { env, log, now } = context.var
  const key_hash = requireKeyHash(context)
  try {
    return await parse()
  } catch (error) {
    authorize(await run({ env, log }, accessStatement, { key_hash, now: now.toISOString() }), log)
    throw error
  }
}
