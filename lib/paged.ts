import type { PgTable } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { hashApiKey, requireAccess } from './access.ts'
import type { RequestContext, Result } from './app.ts'
import { signCursor } from './cursor.ts'
import { runPrepared } from './db.ts'
import { deprecationHeaders } from './deprecation.ts'
import { endpoint } from './endpoint.ts'
import { HttpError, httpError } from './errors.ts'
import type { DocumentedWorker } from './operation.ts'
import { PAGE_SIZE, pageReader, pageStatements } from './page.ts'
import { bindingOf, readPageRequest, secretsOf } from './page-request.ts'
import { type Parameters, parameterNames } from './parameters.ts'
import type { Plan } from './plans.ts'
import { writeJson } from './row.ts'
import type { StoredOperation } from './stored-row.ts'
import { dayOf, type RequestedWindow, resolveWindow, resumeWindow, type Window } from './window.ts'
import { windowByPlan } from './window-by-plan.ts'

export type Paged<Shape extends z.core.$ZodShape, Rows extends PgTable> = StoredOperation<Shape, Rows> & {
  /** Columns that order and identify a brand's rows, ascending. */
  readonly key: readonly (keyof Rows['_']['columns'] & string)[]
  /** The first column of the key, a time as text, where the parameter `since` bounds it. */
  readonly since?: keyof Rows['_']['columns'] & string
  /** The dates that a request does not send; without them, its window is the last 30 days up to now. */
  readonly window?: RequestedWindow
}

/** A page has one row per line. */
const BETWEEN_ROWS = ',\n'

/** Builds the Worker of an endpoint with pages of a brand's rows: brand, window, cursor, page. */
export function paged<Shape extends z.core.$ZodShape, Rows extends PgTable>({
  rows: table,
  key,
  since,
  window: defaults,
  ...operation
}: Paged<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const kind = since === undefined ? 'metric' : 'changes'
  const names = parameterNames(kind)
  const statements = pageStatements({ table, row, key, since })
  const readPage = pageReader({ row, key })

  async function handler(context: RequestContext): Promise<Result> {
    const { env, now, log } = context.var
    const url = new URL(context.req.url)
    const key_hash = await hashApiKey(context)
    const request = await readPageRequest(url.searchParams, { path, names, defaults, env, now })
    if (request instanceof HttpError) {
      await requireAccess({ env, log }, { key_hash, now })
      throw request
    }

    const { parameters, requested, position } = request
    const windowOf = (plan: Plan): Window =>
      position === null ? resolveWindow(requested, plan, now) : resumeWindow(position, plan, now)
    const result = await runPrepared({ env, log }, position === null ? statements.first : statements.next, {
      key_hash,
      now: now.toISOString(),
      today: dayOf(now),
      brand_id: parameters.brandId,
      window_by_plan: windowByPlan(windowOf),
      since: parameters.since ?? '',
      ...Object.fromEntries((position?.after ?? []).map((value, index) => [`after_${index}`, value])),
    })

    const page = readPage(result, log)
    const { plan, brandId, watermark } = page
    if (brandId === null) throw httpError('brand')

    const window = windowOf(plan)
    const nextCursor =
      page.next &&
      (await signCursor({ window, plan, after: page.next }, bindingOf(parameters, path), secretsOf(env)))
    const pagination = { pageSize: PAGE_SIZE, hasMore: nextCursor !== null, nextCursor }
    const meta = { brandId, fromDate: `${window.first}T00:00:00.000Z`, toDate: window.end, plan }
    const data = writeJson({ columns: page.columns, rows: page.rows, separator: BETWEEN_ROWS })
    return {
      body: `{"data":[${data}],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`,
      headers: {
        ...(watermark !== null && { 'X-Data-Settled-Through': watermark }),
        ...(nextCursor !== null && {
          Link: `<${addressOf(url, { ...parameters, cursor: nextCursor })}>; rel="next"`,
        }),
      },
      rows: page.rows,
      cacheable: window.last < dayOf(now),
    }
  }

  return {
    fetch: endpoint({ path, headers: deprecationHeaders(operation.deprecated), handler }).fetch,
    operation: { ...operation, kind },
    statements: [statements.first, statements.next],
  }
}

/** Returns the address of a page. It repeats known parameters only: others may be long or secret. */
function addressOf({ origin, pathname }: URL, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value)
  }
  return `${origin}${pathname}?${query}`
}
