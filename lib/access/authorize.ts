import { sql } from 'drizzle-orm'
import { databaseError, type Row, run } from '../database/db.ts'
import { renderStatement } from '../database/statement.ts'
import type { RequestContext, RequestLog } from '../request/context.ts'
import { httpError } from '../request/errors.ts'
import { isPlan, type Plan } from './plans.ts'
import { accessColumns, activeKey } from './scope.ts'

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
