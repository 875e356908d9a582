import { type SQL, sql } from 'drizzle-orm'
import type { PgView } from 'drizzle-orm/pg-core'
import { authorize, hashApiKey, readHeader } from './access.ts'
import { runPrepared } from './db.ts'
import { deprecationHeaders } from './deprecation.ts'
import { endpoint, type RequestContext } from './endpoint.ts'
import type { DocumentedWorker, Operation } from './operation.ts'
import { prepareStatement } from './prepared-statement.ts'
import { columnsOf, rowWriter } from './row.ts'
import { activeKey, canRead } from './scope.ts'
import type { Answer } from './worker.ts'

export type Listing = Omit<Operation, 'paged'> & {
  /** Brands, under the row's names, with `organization_id` and `active`. */
  readonly rows: PgView
  readonly order: readonly string[]
}

/** An endpoint that lists, in one response, every brand that the key can read (specification, section 4). */
export function listing({ rows, order, ...operation }: Listing): DocumentedWorker {
  const { path, row } = operation
  const columns = columnsOf(row)
  const write = rowWriter(row)
  const statement = prepareStatement(
    sql`
    with access as materialized (${activeKey})
    select json_build_array(key_id, organization_id, plan)::text, ${list(columns.slice(1).map(() => sql`null`))}
    from access
    union all
    (select ${list(columns.map((name) => sql`brand.${sql.identifier(name)}::text`))}
     from access join ${rows} as brand on ${canRead}
     order by ${list(order.map((name) => sql`brand.${sql.identifier(name)}`))})`,
    columns.length,
  )

  async function answer({ context, env, now, log }: RequestContext): Promise<Answer> {
    const key_hash = await hashApiKey(context)
    const [head, ...found] = await runPrepared({ env, log }, statement, { key_hash, now: now.toISOString() })
    authorize(readHeader(head, log), log)
    return { body: `{"data":[${found.map(write).join(',')}]}`, rows: found.length, cacheable: true }
  }

  return {
    fetch: endpoint({ path, headers: deprecationHeaders(operation.deprecated), answer }).fetch,
    operation: { ...operation, paged: false },
    statements: [statement],
  }
}

const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)
