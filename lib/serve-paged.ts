import { requireKeyHash, requireValid } from './access/authorize.ts'
import type { Plan } from './access/plans.ts'
import type { Result } from './app.ts'
import type { App, RequestContext } from './context.ts'
import { endpoint } from './endpoint.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from './errors.ts'
import { fileResult } from './file/file.ts'
import { type FileFormat, isFile } from './file/format.ts'
import { type PageQuery, pageReader } from './page/read.ts'
import { readPageRequest } from './page/request.ts'
import { pageHeaders, pageResult } from './page/respond.ts'
import { MOST_ROWS } from './page/size.ts'
import type { PageStatements } from './page/statements.ts'
import type { Parameters } from './parameters.ts'
import type { Field } from './row.ts'
import { type RequestedWindow, resolveWindow, resumeWindow } from './window.ts'

/** What the Worker is made from. */
export type PagedData = {
  readonly path: string
  readonly kind: 'metric' | 'changes'
  /** The dates that a request does not send. */
  readonly defaults: RequestedWindow | undefined
  readonly fields: readonly Field[]
  readonly ofBrand: KeyedStatements
  /** The rows of every brand of the key; null where a request must name a brand. */
  readonly ofAll: KeyedStatements | null
}

/** The statements that read rows, and the columns that order and identify these. */
type KeyedStatements = { readonly key: readonly string[]; readonly statements: PageStatements }

/** The statements that read rows, and what runs them. */
type Source = { readonly statements: PageStatements; readonly read: ReturnType<typeof pageReader> }

/** Serves an endpoint with a brand's rows. */
export function serve({ path, kind, defaults, fields, ofBrand, ofAll }: PagedData): App {
  const oneBrand: Source = { ...ofBrand, read: pageReader({ fields, key: ofBrand.key }, 'one') }
  const allBrands: Source | null = ofAll && {
    ...ofAll,
    read: pageReader({ fields, key: ofAll.key }, 'all'),
  }

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
        // A lower plan has moved the window: the file would lack rows that its name promises.
        if (part.window.first !== window.first) throw httpError('plan')
        return part
      },
    })
    return { ...result, headers: { ...result.headers, ...pageHeaders(first, parameters) } }
  }

  return endpoint({ path, handler })
}
