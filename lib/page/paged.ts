import type { PgTable } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { requireKeyHash } from '../access/access.ts'
import type { Plan } from '../access/plans.ts'
import type { Result } from '../http/app.ts'
import type { RequestContext } from '../request/context.ts'
import { fieldsOf } from '../rows/schema.ts'
import type { Format } from '../rows/write.ts'
import {
  type PagedRows,
  type PageQuery,
  type PageStatements,
  pageReader,
  pageStatements,
} from '../statement/page-statement.ts'
import { type RequestedWindow, resolveWindow } from '../statement/window.ts'
import type { DocumentedWorker, StoredOperation } from './operation.ts'
import { dataEndpoint, type PageRequest, readPageRequest } from './request.ts'

export type Paged<Shape extends z.core.$ZodShape, Rows extends PgTable> = StoredOperation<Shape, Rows> & {
  /** Columns that order and identify a brand's rows, ascending. */
  readonly key: readonly (keyof Rows['_']['columns'] & string)[]
  /** The first column of the key, a time as text, where the parameter `since` bounds it. */
  readonly since?: keyof Rows['_']['columns'] & string
  /** The dates that a request does not send; without them, its window is today and the 30 days before. */
  readonly window?: RequestedWindow
  /** What answers a request in each format. */
  readonly formats: Readonly<Record<Format, Handler>>
  /** Builds the source of requests without a brand, where they are allowed. */
  readonly allBrands?: (rows: PagedRows) => Source
}

/** The statements that read rows, and what runs them. */
export type Source = { readonly statements: PageStatements; readonly read: ReturnType<typeof pageReader> }

/** A valid request, the rows that it is about, and what to ask for them at first. */
export type Question = {
  readonly path: string
  readonly fields: ReturnType<typeof fieldsOf>
  readonly source: Source
  readonly request: PageRequest
  readonly query: PageQuery
}

/** Reads rows and returns them; throws 401, 403 and 404 when the key does not read them. */
export type Handler = (context: RequestContext, question: Question) => Promise<Result>

/** Builds the Worker of an endpoint with a brand's rows. */
export function paged<Shape extends z.core.$ZodShape, Rows extends PgTable>({
  rows: table,
  key,
  since,
  window: defaults,
  formats,
  allBrands,
  ...operation
}: Paged<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const kind = since === undefined ? 'metric' : 'changes'
  const rows = { path, table, row, key, since }
  const fields = fieldsOf(row)
  const ofBrand: Source = { statements: pageStatements(rows), read: pageReader({ fields, key }, 'one') }
  const ofAll = allBrands?.(rows)
  return {
    fetch: dataEndpoint({
      path,
      parse: ({ req, var: { env, now } }) =>
        readPageRequest(new URL(req.url).searchParams, { path, kind, defaults, env, now }),
      handler: (context, request) => {
        const { brandId, since, format = 'json' } = request.parameters
        const { now } = context.var
        const windowOf = (plan: Plan) => resolveWindow(request.requested, plan, now)
        const query = { key_hash: requireKeyHash(context), now, brandId, since, windowOf, after: [] }
        const source = brandId === undefined && ofAll !== undefined ? ofAll : ofBrand
        return formats[format](context, { path, fields, source, request, query })
      },
    }).fetch,
    operation: { ...operation, kind },
    rows,
    statements: {
      ...ofBrand.statements,
      ...(ofAll &&
        Object.fromEntries(
          Object.entries(ofAll.statements).map(([name, each]) => [`${name} of all brands`, each]),
        )),
    },
  }
}
