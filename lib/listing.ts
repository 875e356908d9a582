import { type SQL, sql } from 'drizzle-orm'
import type { PgView } from 'drizzle-orm/pg-core'
import { admit, presentedKey, readHeader } from './access.ts'
import { runKept } from './db.ts'
import { deprecationHeaders } from './deprecation.ts'
import { type Asked, endpoint } from './endpoint.ts'
import type { Described, Operation } from './operation.ts'
import { columnsOf, rowWriter } from './row.ts'
import { canRead, liveKey } from './scope.ts'
import { prepareKept } from './statement.ts'
import type { Answer } from './worker.ts'

export type Listing = Omit<Operation, 'paged'> & {
  /** Brands, under the row's names, with `organization_id` and `active`. */
  readonly rows: PgView
  readonly order: readonly string[]
}

/** An endpoint that lists, in one response, every brand that the key can read (specification, section 4). */
export function listing({ rows, order, ...operation }: Listing): Described {
  const { path, row } = operation
  const columns = columnsOf(row)
  const write = rowWriter(row)
  const statement = prepareKept(
    sql`
    with access as materialized (${liveKey})
    select json_build_array(key_id, organization_id, plan)::text, ${list(columns.slice(1).map(() => sql`null`))}
    from access
    union all
    (select ${list(columns.map((name) => sql`brand.${sql.identifier(name)}::text`))}
     from access join ${rows} as brand on ${canRead}
     order by ${list(order.map((name) => sql`brand.${sql.identifier(name)}`))})`,
    columns.length,
  )

  async function answer({ context, env, now, log }: Asked): Promise<Answer> {
    const key_hash = await presentedKey(context)
    const [head, ...found] = await runKept({ env, log }, statement, { key_hash, now: now.toISOString() })
    admit(readHeader(head, log), log)
    return { body: `{"data":[${found.map(write).join(',')}]}`, rows: found.length, lasting: true }
  }

  return {
    fetch: endpoint({ path, headers: deprecationHeaders(operation.deprecated), answer }).fetch,
    operation: { ...operation, paged: false },
    statements: [statement],
  }
}

const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)
