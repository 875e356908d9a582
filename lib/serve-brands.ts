import { authorize, requireKeyHash, requireValid } from './access/authorize.ts'
import type { Result } from './app.ts'
import type { BrandsStatements } from './brands-statement.ts'
import type { App, RequestContext } from './context.ts'
import { runPrepared } from './db.ts'
import { endpoint } from './endpoint.ts'
import { fileResult } from './file/file.ts'
import { isFile } from './file/format.ts'
import { type KeyedFields, sizedRowsReader, valuesOfKey } from './page/read-sized-rows.ts'
import { brandsDigestHeader } from './page/respond.ts'
import type { PageStatement } from './page/statements.ts'
import { parseFormat } from './parameters.ts'
import { writeJson } from './write-rows.ts'

/** What the Worker is made from. */
export type BrandsData = KeyedFields & { readonly path: string; readonly statements: BrandsStatements }

/** Serves every brand that the key reads: as JSON in one statement, as a file in parts. */
export function serve({ path, fields, key, statements }: BrandsData): App {
  const readRows = sizedRowsReader({ fields, key })

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
    const readAfter = (last: readonly string[]) => read(statements.nextOfFile, clock(), last)
    const result = fileResult(context, { format, name: path.slice(1), fields, first, readAfter })
    return { ...result, headers: { ...result.headers, ...brandsDigestHeader(first.digest) } }
  }

  return endpoint({ path, handler })
}
