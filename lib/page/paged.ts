import type { PgTable } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { accessErrorsFirst, requireKeyHash } from '../access/authorize.ts'
import type { Plan } from '../access/plans.ts'
import { fileResult } from '../file/file.ts'
import type { Result } from '../http/app.ts'
import { endpoint } from '../http/endpoint.ts'
import type { RequestContext } from '../request/context.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { fieldsOf } from '../rows/schema.ts'
import { MOST_ROWS } from '../rows/size.ts'
import { type FileFormat, isFile } from '../rows/write.ts'
import { allBrandsStatements, CHANGES_KEY } from './all-brands.ts'
import type { DocumentedWorker, StoredOperation } from './operation.ts'
import type { Parameters } from './parameters.ts'
import { type PageQuery, pageReader } from './read.ts'
import { readPageRequest } from './request.ts'
import { pageHeaders, pageResult } from './respond.ts'
import { type PageStatement, type PageStatements, pageStatements } from './statement.ts'
import { type RequestedWindow, resolveWindow, resumeWindow } from './window.ts'

export type Paged<Shape extends z.core.$ZodShape, Rows extends PgTable> = StoredOperation<Shape, Rows> & {
  /** Columns that order and identify a brand's rows, ascending. */
  readonly key: readonly (keyof Rows['_']['columns'] & string)[]
  /** The first column of the key, a time as text, where the parameter `since` bounds it. */
  readonly since?: keyof Rows['_']['columns'] & string
  /** The dates that a request does not send; without them, its window is today and the 30 days before. */
  readonly window?: RequestedWindow
}

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
  const fields = fieldsOf(row)
  const oneBrand: Source = { statements: pageStatements(rows), read: pageReader({ fields, key }, 'one') }
  /** The rows of every brand of the key; null where a request must name a brand. */
  const allBrands: Source | null =
    kind === 'metric'
      ? null
      : { statements: allBrandsStatements(rows), read: pageReader({ fields, key: CHANGES_KEY }, 'all') }

  async function handler(context: RequestContext): Promise<Result> {
    const { env, now, log } = context.var
    const key_hash = requireKeyHash(context)
    const { searchParams } = new URL(context.req.url)
    const { parameters, requested, position } = await accessErrorsFirst(context, () =>
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
    const source = (brandId === undefined && allBrands) || oneBrand
    if (isFile(format)) return file(context, source, { parameters, query, format })
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
    { parameters, query, format }: { parameters: Parameters; query: PageQuery; format: FileFormat },
  ): Promise<Result> {
    const { env, clock, log } = context.var
    const first = await read({ env, log }, statements.firstOfFile, query)
    const { window, brandId, total } = first
    if (total !== null && total > MOST_ROWS) throw parameterError(PARAMETER_ERRORS.tooManyRows)
    const result = fileResult(context, {
      format,
      name: [path.slice(1), ...(brandId === null ? [] : [brandId]), window.first, window.last].join('_'),
      fields,
      first,
      readAfter: async (after) => {
        const now = clock()
        const windowOf = (plan: Plan) => resumeWindow(window, plan, now)
        const part = await read({ env, log }, statements.nextOfFile, { ...query, now, after, windowOf })
        // A lower plan has moved the start: the file would lack rows that its name promises, so its transfer fails.
        if (part.window.first !== window.first) throw httpError('plan')
        return part
      },
    })
    return { ...result, headers: { ...result.headers, ...pageHeaders(first, parameters) } }
  }

  return {
    fetch: endpoint({ path, handler }).fetch,
    operation: { ...operation, kind },
    rows,
    statements: {
      ...oneBrand.statements,
      ...(allBrands && named('of all brands', allBrands.statements)),
    },
  }
}

/** The statements that read rows, and what runs them. */
type Source = { readonly statements: PageStatements; readonly read: ReturnType<typeof pageReader> }

const named = (suffix: string, statements: PageStatements): Record<string, PageStatement> =>
  Object.fromEntries(Object.entries(statements).map(([name, each]) => [`${name} ${suffix}`, each]))
