import { fillPlaceholders } from 'drizzle-orm'
import type { ClientBase } from 'pg'
import { sha256 } from '../../lib/hash.ts'
import type { DocumentedWorker } from '../../lib/operation.ts'
import { callOf } from '../../lib/prepared-statement.ts'
import { windowByPlan } from '../../lib/window-by-plan.ts'
import { timed } from './timing.ts'
import { LAST_DAY } from './volume.ts'

/** Builds functions that time the statement of a Worker's first page, over a window that has all rows. */
export const firstPage =
  (client: ClientBase, key: string) =>
  async ({ statements: [first] }: DocumentedWorker, brandId: string, since = '') => {
    if (first === undefined) throw new TypeError('The Worker has no statement')
    const { sql: text, params } = await callOf(first)
    const window = { first: '0001-01-01', last: '9999-12-31', end: '' }
    const values = fillPlaceholders(params, {
      key_hash: await sha256(key),
      brand_id: brandId,
      since,
      now: new Date().toISOString(),
      today: LAST_DAY,
      window_by_plan: windowByPlan(() => window),
    })
    return () => timed(() => client.query({ text, values, rowMode: 'array' }))
  }
