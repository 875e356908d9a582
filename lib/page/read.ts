import { authorize } from '../access/authorize.ts'
import type { Plan } from '../access/plans.ts'
import { type Row, runPrepared } from '../database/db.ts'
import type { RequestLog } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { httpError } from '../request/errors.ts'
import { type KeyedFields, type SizedRowSet, sizedRowsReader, valuesOfKey } from '../rows/read.ts'
import type { PageStatement } from './statement.ts'
import type { Window } from './window.ts'
import { windowByPlan } from './window-by-plan.ts'

/** What a statement found. */
export type Page = SizedRowSet & {
  readonly plan: Plan
  readonly organizationId: string
  /** The brand in its canonical form; null for every brand of the key. */
  readonly brandId: string | null
  /** The window under the plan. */
  readonly window: Window
  /** Time before which every commit is in the rows; null before the first refresh. */
  readonly asOf: string | null
  /** Digest of the brands that the key reads; null for one brand. */
  readonly brandsDigest: string | null
}

/** What a statement is asked for. */
export type PageQuery = {
  readonly key_hash: string
  readonly now: Date
  /** The brand, where the statement reads one. */
  readonly brandId: string | undefined
  readonly since: string | undefined
  readonly windowOf: (plan: Plan) => Window
  /** Key of the last row before; empty for the first statement. */
  readonly after: readonly string[]
}

/**
 * Returns a function that reads the result of a statement, which returns at most `limit` rows. It throws 401 and 403 as
 * {@link authorize} does, 404 when the key does not read the brand, and 503 for an incomplete result.
 */
export function resultReader(rows: KeyedFields, brands: 'one' | 'all' = 'one') {
  const readRows = sizedRowsReader(rows)
  return (result: Row | null, limit: number, log: RequestLog): Omit<Page, 'window'> => {
    const row = authorize(result, log)
    const { plan, organization_id: organizationId, brand_id = null, as_of = null, brands_digest = null } = row
    if (brand_id === null && brands === 'one') throw httpError('brand')
    const page = readRows(row, limit, log)
    return { plan, organizationId, brandId: brand_id, asOf: as_of, brandsDigest: brands_digest, ...page }
  }
}

/** Returns a function that runs a statement of `pageStatements` and reads its result; throws as {@link resultReader} does. */
export function pageReader(rows: KeyedFields, brands: 'one' | 'all' = 'one') {
  const readResult = resultReader(rows, brands)
  return async (
    context: { readonly env: Env; readonly log: RequestLog },
    statement: PageStatement,
    { key_hash, now, brandId, since, windowOf, after }: PageQuery,
  ): Promise<Page> => {
    const result = await runPrepared(context, statement, {
      key_hash,
      now: now.toISOString(),
      brand_id: brandId,
      window_by_plan: windowByPlan(windowOf),
      since: since ?? '',
      ...valuesOfKey(after),
    })
    const page = readResult(result, statement.limit, context.log)
    return { ...page, window: windowOf(page.plan) }
  }
}
