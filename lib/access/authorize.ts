import type { RequestContext, RequestLog } from '../context.ts'
import { databaseError, type QueryContext, type Row, run } from '../db.ts'
import { httpError } from '../errors.ts'
import { accessStatement } from '../statements.ts'
import { isPlan, type Plan } from './plans.ts'

/** Returns the SHA-256 (hex) of the request's API key; throws 401 when its form is wrong, without asking the database. */
export function requireKeyHash(context: RequestContext): string {
  const { keyHash } = context.var.log
  if (keyHash === null) throw httpError('key')
  return keyHash
}

/** A row of a statement that found an active key and a plan. */
type AuthorizedRow = Row & { readonly plan: Plan; readonly organization_id: string }

/**
 * Checks the key and then the plan that a statement found, logs whose key it is, and returns the row. Throws 401
 * without a row, 403 without a plan.
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

/** The key of a request, the time at which it must be active, and what is needed to look it up. */
type Access = QueryContext & {
  readonly log: RequestLog
  readonly key_hash: string
  readonly now: Date
}

/** Returns what `parse` returns. When it throws, checks the key and the plan first: their errors come before its own. */
export async function requireValid<Parsed>(
  { env, log, key_hash, now }: Access,
  parse: () => Parsed | Promise<Parsed>,
): Promise<Parsed> {
  try {
    return await parse()
  } catch (error) {
    authorize(await run({ env, log }, accessStatement, { key_hash, now: now.toISOString() }), log)
    throw error
  }
}
