import { type SQL, sql } from 'drizzle-orm'
import type { PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { ACCESS_COLUMNS, authorize, hashApiKey, requireValid } from './access.ts'
import type { RequestContext, Result } from './app.ts'
import { databaseError, type Row, runPrepared, toCount } from './db.ts'
import { deprecationHeaders } from './deprecation.ts'
import { endpoint } from './endpoint.ts'
import { fileResult } from './file.ts'
import { isFile } from './file-format.ts'
import type { DocumentedWorker } from './operation.ts'
import { parseFormat } from './parameters.ts'
import { prepareStatement } from './prepared-statement.ts'
import type { RequestLog } from './request-log.ts'
import { aggregateColumns, columnNames, columnReader, fieldNames } from './row.ts'
import { activeKey, canReadEach } from './scope.ts'
import { list } from './sized-rows.ts'
import type { StoredOperation } from './stored-row.ts'
import { type RowSet, writeJson } from './write-rows.ts'

/** `rows` are brands under the row's field names, with `organization_id` and `active`. */
export type Listing<Shape extends z.core.$ZodShape, Rows extends PgView> = StoredOperation<Shape, Rows> & {
  readonly order: readonly string[]
}

/** Builds the Worker that lists, in one response, every brand that the key reads. */
export function listing<Shape extends z.core.$ZodShape, Rows extends PgView>({
  rows,
  order,
  ...operation
}: Listing<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const readColumns = columnReader(row)
  const statement = prepareStatement(
    sql`
    with access as materialized (${activeKey})
    select key_id::text, organization_id::text, plan, page.*
    from access cross join lateral (
      select ${list([sql`count(*)::text as found`, ...aggregateColumns(row)])}
      from (
        select ${list(fieldNames(row).map(columnOfBrand))}
        from ${rows} as brand
        where ${canReadEach}
        order by ${list(order.map(columnOfBrand))}
      ) as page
    ) as page`,
    [...ACCESS_COLUMNS, 'found', ...columnNames(row)],
  )

  async function handler(context: RequestContext): Promise<Result> {
    const { env, now, log } = context.var
    const key_hash = await hashApiKey(context)
    const parsed = parseFormat(new URL(context.req.url).searchParams)
    const format = await requireValid(parsed, { env, log }, { key_hash, now })
    const result = await runPrepared({ env, log }, statement, { key_hash, now: now.toISOString() })
    authorize(result, log)
    const all = read(result ?? {}, log)
    if (isFile(format))
      return fileResult(context, { format, name: path.slice(1), row, first: all, following: null })
    return { body: `{"data":[${writeJson(all, ',')}]}`, rows: all.rows, cacheable: true }
  }

  function read(result: Row, log: RequestLog): RowSet {
    try {
      const rows = toCount(result.found)
      return { columns: readColumns(result, rows), rows }
    } catch (error) {
      throw databaseError(error, log)
    }
  }

  return {
    fetch: endpoint({ path, headers: deprecationHeaders(operation.deprecated), handler }).fetch,
    operation: { ...operation, kind: 'listing' },
    statements: [statement],
  }
}

const columnOfBrand = (name: string): SQL => sql`brand.${sql.identifier(name)}`
