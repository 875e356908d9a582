import type { PgTable } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { requireKeyHash, requireValid } from './access/authorize.ts'
import type { Plan } from './access/plans.ts'
import type { RequestContext, Result } from './app.ts'
import { endpoint } from './endpoint.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from './errors.ts'
import { fileResult } from './file/file.ts'
import { type FileFormat, isFile } from './file/format.ts'
import type { DocumentedWorker } from './operation.ts'
import { CHANGES_KEY } from './page/all-brands.ts'
import { type PageQuery, pageReader } from './page/read.ts'
import { readPageRequest } from './page/request.ts'
import { pageHeaders, pageResult } from './page/respond.ts'
import { allBrandsStatements, type PageStatements, pageStatements } from './page/statements.ts'
import type { StoredOperation } from './stored-row.ts'
import { type RequestedWindow, resolveWindow, resumeWindow } from './window.ts'

export type Paged<Shape extends z.core.$ZodShape, Rows extends PgTable> = StoredOperation<Shape, Rows> & {
  /** Columns that order and identify a brand's rows, ascending. */
  readonly key: readonly (keyof Rows['_']['columns'] & string)[]
  /** The first column of the key, a time as text, where the parameter `since` bounds it. */
  readonly since?: keyof Rows['_']['columns'] & string
  /** The dates that a request does not send; without them, its window is the last 30 days up to now. */
  readonly window?: RequestedWindow
}

/** The most rows of a file: what Cloudflare's limits allow by far (docs/deploy.md, Limits). */
export const MOST_ROWS = 2_000_000

/** The statements that read an endpoint's rows, and what runs them. */
type Source = { readonly statements: PageStatements; readonly read: ReturnType<typeof pageReader> }

/** Builds the Worker of an endpoint with a brand's rows: brand, window, cursor, and a page or a file. */
export function paged<Shape extends z.core.$ZodShape, Rows extends PgTable>({
  rows: table,
  key,
  since,
  window: defaults,
  ...operation
}: Paged<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const kind = since === undefined ? 'metric' : 'changes'
  const rows = { path, table, row, key, since }
  const ofBrand: Source = { statements: pageStatements(rows), read: pageReader(rows) }
  const ofAll: Source | null =
    kind === 'metric'
      ? null
      : { statements: allBrandsStatements(rows), read: pageReader({ row, key: CHANGES_KEY }, 'all') }

  async function handler(context: RequestContext): Promise<Result> {
    const { env, now, log } = context.var
    const key_hash = requireKeyHash(context)
    const { searchParams } = new URL(context.req.url)
    const { parameters, requested, position } = await requireValid({ env, log, key_hash, now }, () =>
      readPageRequest(searchParams, { path, kind, defaults, env, now }),
    )
    const { brandId, format } = parameters
    const query: PageQuery = {
      key_hash,
      now,
      brandId,
      since: parameters.since,
      windowOf: (plan) =>
        position === null ? resolveWindow(requested, plan, now) : resumeWindow(position.window, plan, now),
      after: position?.after ?? [],
    }
    const source = (brandId === undefined && ofAll) || ofBrand
    if (isFile(format)) return file(context, source, { query, format })
    const { statements, read } = source
    const page = await read({ env, log }, position === null ? statements.first : statements.next, query)
    if (position !== null && brandId === undefined && position.organizationId !== page.organizationId) {
      throw parameterError(PARAMETER_ERRORS.cursor)
    }
    return pageResult(context, page, { path, parameters })
  }

  async function file(
    context: RequestContext,
    { statements, read }: Source,
    { query, format }: { query: PageQuery; format: FileFormat },
  ): Promise<Result> {
    const { env, clock, log } = context.var
    const first = await read({ env, log }, statements.firstOfFile, query)
    const { window, brandId, total } = first
    if (total !== null && total > MOST_ROWS) throw parameterError(PARAMETER_ERRORS.tooManyRows)
    const result = fileResult(context, {
      format,
      name: [path.slice(1), ...(brandId === null ? [] : [brandId]), window.first, window.last].join('_'),
      row,
      first,
      readAfter: async (after) => {
        const now = clock()
        const windowOf = (plan: Plan) => resumeWindow(window, plan, now)
        const part = await read({ env, log }, statements.nextOfFile, { ...query, now, after, windowOf })
        // A lower plan has moved the window: the file would lack rows that its name promises.
        if (part.window.first !== window.first) throw httpError('plan')
        return part
      },
    })
    return { ...result, headers: { ...result.headers, ...pageHeaders(first) } }
  }

  return {
    fetch: endpoint({ path, handler }).fetch,
    operation: { ...operation, kind },
    statements: [ofBrand, ...(ofAll === null ? [] : [ofAll])].flatMap(({ statements }) =>
      Object.values(statements),
    ),
  }
}
