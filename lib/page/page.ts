import type { Result } from '../http/app.ts'
import type { RequestContext } from '../request/context.ts'
import { PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { secretsOf } from '../request/hash.ts'
import { PAGE_SIZE } from '../rows/size.ts'
import { writeJson } from '../rows/write.ts'
import type { Page } from '../statement/page-statement.ts'
import { dayOf, EVERY_DAY, resumeWindow } from '../statement/window.ts'
import { signCursor } from './cursor.ts'
import type { Question } from './paged.ts'
import type { Parameters } from './request.ts'

/** A page has one row per line. */
const BETWEEN_ROWS = ',\n'

/** Clients and proxies give up at long headers. The cursor in the body is enough. */
const LONGEST_LINK = 2000

/** Sends a page as JSON, with the cursor of the page that follows. */
export async function sendPage(context: RequestContext, question: Question): Promise<Result> {
  const { env, now, log } = context.var
  const { path, source, query, request } = question
  const { parameters, position } = request
  const statement = position === null ? source.statements.first : source.statements.next
  const page = await source.read({ env, log }, statement, {
    ...query,
    ...(position !== null && {
      after: position.after,
      windowOf: (plan) => resumeWindow(position.window, plan, now),
    }),
  })
  const { window, plan, brandId, next } = page
  // A cursor of all brands is tied to its organization.
  const organizationId = brandId === null ? page.organizationId : null
  if (position !== null && position.organizationId !== organizationId)
    throw parameterError(PARAMETER_ERRORS.cursor)
  const nextCursor =
    next &&
    (await signCursor(
      { window, organizationId, after: next },
      { ...parameters, endpoint: path },
      secretsOf(env),
    ))
  const pagination = { pageSize: PAGE_SIZE, hasMore: nextCursor !== null, nextCursor }
  const meta = { brandId, fromDate: `${window.first}T00:00:00.000Z`, toDate: window.end, plan }
  const link =
    nextCursor === null ? {} : nextLink(new URL(context.req.url), { ...parameters, cursor: nextCursor })
  return {
    body: `{"data":[${writeJson(page, BETWEEN_ROWS)}],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`,
    headers: { ...pageHeaders(page, parameters), ...link },
    rows: page.rows,
    cacheable: window.last < dayOf(now),
  }
}

/** Returns the headers that say what a page's rows are of. There is no time before the first refresh. */
export const pageHeaders = (
  { window: { first, last }, asOf, brandsDigest }: Page,
  { toDate }: Parameters,
): Record<string, string> => ({
  'X-Window': `${first}/${toDate === undefined && last === EVERY_DAY.toDate ? '..' : last}`,
  ...(asOf !== null && { 'X-Data-As-Of': asOf }),
  ...brandsDigestHeader(brandsDigest),
})

/** Returns the header with the digest of the brands that the key reads; none for a response of one brand. */
export const brandsDigestHeader = (digest: string | null): Record<string, string> =>
  digest === null ? {} : { 'X-Brands-Digest': digest }

/** Returns the header with the address of the next page. It repeats known parameters only: others may be long or secret. */
export function nextLink({ origin, pathname }: URL, parameters: Parameters): Record<string, string> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, value)
  }
  const address = `${origin}${pathname}?${query}`
  return address.length > LONGEST_LINK ? {} : { Link: `<${address}>; rel="next"` }
}
