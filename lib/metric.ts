import type { PgTable } from 'drizzle-orm/pg-core'
import { authorize, hashApiKey, requireAccess } from './access.ts'
import {
  type CursorBinding,
  type CursorPosition,
  type CursorSecrets,
  signCursor,
  verifyCursor,
} from './cursor.ts'
import { runPrepared } from './db.ts'
import { deprecationHeaders } from './deprecation.ts'
import { endpoint, type RequestContext } from './endpoint.ts'
import type { Env } from './env.ts'
import { HttpError, httpError, PARAMETER_ERRORS, parameterError } from './errors.ts'
import type { DocumentedWorker, Operation } from './operation.ts'
import { PAGE_SIZE, pageQueries, readPage } from './page.ts'
import { type Parameters, parseParameters } from './parameters.ts'
import { PAID_PLANS, type Plan } from './plans.ts'
import { dayOf, resolveWindow, resumeWindow, type Window } from './window.ts'
import type { Answer } from './worker.ts'

export type Metric = Omit<Operation, 'paged'> & {
  /** The stored rows; the line of each has the fields of `row`, in the same order. */
  readonly rows: PgTable
  /** The columns that order and identify a brand's rows, ascending, the date first. */
  readonly key: readonly string[]
}

/** An endpoint over one metric: brand, window, cursor, page (specification, section 4). */
export function metric({ rows: table, key, ...operation }: Metric): DocumentedWorker {
  const { path } = operation
  const queries = pageQueries({ table, key })

  async function answer({ context, url, env, now, log }: RequestContext): Promise<Answer> {
    const key_hash = await hashApiKey(context)
    const request = await readRequest(url.searchParams, path, env)
    if (request instanceof HttpError) {
      await requireAccess({ env, log }, { key_hash, now })
      throw request
    }

    const { parameters, position } = request
    const windowFor = (plan: Plan): Window =>
      position === null ? resolveWindow(parameters, plan, now) : resumeWindow(position.window, plan, now)
    const cells = await runPrepared({ env, log }, position === null ? queries.first : queries.next, {
      key_hash,
      now: now.toISOString(),
      today: dayOf(now),
      brand_id: parameters.brandId,
      windows: JSON.stringify(Object.fromEntries(PAID_PLANS.map((plan) => [plan, windowFor(plan)]))),
      ...Object.fromEntries((position?.after ?? []).map((value, index) => [`after_${index}`, value])),
    })

    const { header, page } = readPage(cells, log)
    const { plan } = authorize(header, log)
    const [, , , brandId, settled] = header ?? []
    if (brandId == null) throw httpError('brand')

    const window = windowFor(plan)
    const nextCursor =
      page.next &&
      (await signCursor({ window, after: page.next }, bindingOf(parameters, path), secretsOf(env)))
    const pagination = { pageSize: PAGE_SIZE, hasMore: nextCursor !== null, nextCursor }
    const meta = { brandId, fromDate: `${window.first}T00:00:00.000Z`, toDate: window.end, plan }
    const headers = {
      ...(settled != null && settled >= window.first && { 'X-Data-Settled-Through': settled }),
      ...(nextCursor !== null && {
        Link: `<${nextPage(url, { ...parameters, cursor: nextCursor })}>; rel="next"`,
      }),
    }
    const body = `{"data":[${page.lines}],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`
    return { body, headers, rows: page.rows, cacheable: window.last < dayOf(now) }
  }

  return {
    fetch: endpoint({ path, headers: deprecationHeaders(operation.deprecated), answer }).fetch,
    operation: { ...operation, paged: true },
    statements: [queries.first, queries.next],
  }
}

/** The address of a page with the parameters that belong to it: whatever else was sent, long or secret, is not repeated. */
function nextPage({ origin, pathname }: URL, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value)
  }
  return `${origin}${pathname}?${query}`
}

type PageRequest = { readonly parameters: Parameters; readonly position: CursorPosition | null }

/** Reads parameters and cursor; the refusal is given, not thrown, for the key and the plan are judged first. */
async function readRequest(query: URLSearchParams, path: string, env: Env): Promise<PageRequest | HttpError> {
  const parameters = parseParameters(query)
  if (parameters instanceof HttpError) return parameters
  if (parameters.cursor === undefined) return { parameters, position: null }
  const position = await verifyCursor(parameters.cursor, bindingOf(parameters, path), secretsOf(env))
  return position === null ? parameterError(PARAMETER_ERRORS.cursor) : { parameters, position }
}

const bindingOf = ({ brandId, fromDate, toDate }: Parameters, endpoint: string): CursorBinding => ({
  endpoint,
  brandId,
  fromDate,
  toDate,
})

const secretsOf = ({ CURSOR_SECRET, CURSOR_SECRET_PREVIOUS }: Env): CursorSecrets =>
  CURSOR_SECRET_PREVIOUS === undefined ? [CURSOR_SECRET] : [CURSOR_SECRET, CURSOR_SECRET_PREVIOUS]
