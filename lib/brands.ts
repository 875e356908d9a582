import type { PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { authorize, requireKeyHash, requireValid } from './access/authorize.ts'
import type { RequestContext, Result } from './app.ts'
import { brandsStatements } from './brands-statement.ts'
import { runPrepared } from './db.ts'
import { endpoint } from './endpoint.ts'
import { fileResult } from './file/file.ts'
import { isFile } from './file/format.ts'
import type { DocumentedWorker } from './operation.ts'
import { brandsDigestHeader } from './page/brands-digest.ts'
import { sizedRowsReader, valuesOfKey } from './page/sized-rows.ts'
import type { PageStatement } from './page/statements.ts'
import { parseFormat } from './parameters.ts'
import type { StoredOperation } from './stored-row.ts'
import { writeJson } from './write-rows.ts'

/** `rows` are brands under the row's field names, with `id`, `organization_id` and `active`. */
export type Brands<Shape extends z.core.$ZodShape, Rows extends PgView> = StoredOperation<Shape, Rows> & {
  /** Fields that order and identify the brands. */
  readonly order: readonly (keyof Shape & string)[]
}

/** Builds the Worker that lists every brand that the key reads: as JSON in one statement, as a file in parts. */
export function brands<Shape extends z.core.$ZodShape, Rows extends PgView>({
  rows,
  order,
  ...operation
}: Brands<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const statements = brandsStatements({ view: rows, row, key: order })
  const readRows = sizedRowsReader({ row, key: order })

  async function handler(context: RequestContext): Promise<Result> {
    const { env, clock, now, log } = context.var
    const key_hash = requireKeyHash(context)
    const { searchParams } = new URL(context.req.url)
    const format = await requireValid({ env, log, key_hash, now }, () => parseFormat(searchParams))
    const read = async (statement: PageStatement, at: Date, after: readonly string[] = []) => {
      const values = { key_hash, now: at.toISOString(), ...valuesOfKey(after) }
      const result = authorize(await runPrepared({ env, log }, statement, values), log)
      return { ...readRows(result, statement.size, log), digest: result.brands_digest ?? null }
    }
    if (!isFile(format)) {
      const all = await read(statements.all, now)
      const body = `{"data":[${writeJson(all, ',')}]}`
      return { body, headers: brandsDigestHeader(all.digest), rows: all.rows, cacheable: true }
    }
    const first = await read(statements.firstOfFile, now)
    const readAfter = (key: readonly string[]) => read(statements.nextOfFile, clock(), key)
    const result = fileResult(context, { format, name: path.slice(1), row, first, readAfter })
    return { ...result, headers: { ...result.headers, ...brandsDigestHeader(first.digest) } }
  }

  return {
    fetch: endpoint({ path, handler }).fetch,
    operation: { ...operation, kind: 'brands' },
    statements: Object.values(statements),
  }
}
