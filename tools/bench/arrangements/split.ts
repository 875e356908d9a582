import { sql } from 'drizzle-orm'
import { dailyCitationShare } from '../../../drizzle/daily/citation-share.ts'
import { authorize, hashApiKey, readHeader } from '../../../lib/access.ts'
import type { Answer } from '../../../lib/app.ts'
import { signCursor } from '../../../lib/cursor.ts'
import { runPrepared, unavailable } from '../../../lib/db.ts'
import { endpoint, type RequestContext } from '../../../lib/endpoint.ts'
import { HttpError, httpError } from '../../../lib/errors.ts'
import { memoize } from '../../../lib/memoize.ts'
import { PAGE_SIZE, pageQueries, readPage } from '../../../lib/page.ts'
import { parseParameters } from '../../../lib/parameters.ts'
import { PAID_PLANS, type Plan } from '../../../lib/plans.ts'
import { prepareStatement } from '../../../lib/prepared-statement.ts'
import { activeKey, canRead } from '../../../lib/scope.ts'
import { dayOf, resolveWindow, type Window } from '../../../lib/window.ts'

const PATH = '/citation-share'

const rows = pageQueries({ table: dailyCitationShare, key: ['date', 'url_hash'] }).first

/** What the page's statement says ahead of its rows, by itself. */
const live = prepareStatement(
  sql`
    select json_build_array(access.key_id, access.organization_id, access.plan, brand.id,
      daily.watermark('citation_share', brand.id, (windows.by_plan -> access.plan ->> 'first')::date,
        least((windows.by_plan -> access.plan ->> 'last')::date, ${sql.placeholder('today')}::date)))::text
    from (${activeKey}) as access
    cross join (select ${sql.placeholder('windows')}::jsonb as by_plan) as windows
    left join brands as brand on brand.id = ${sql.placeholder('brand_id')}::uuid and ${canRead}`,
  1,
)

const replicaOf = memoize((bindings: object) => ({
  DATABASE_URL: String(Reflect.get(bindings, 'REPLICA_URL')),
}))

/** First pages of citation share with access from one database and the rows from another, asked side by side. */
async function answer({ context, url, env, now, log }: RequestContext): Promise<Answer> {
  const key_hash = await hashApiKey(context)
  const parameters = parseParameters(url.searchParams)
  if (parameters instanceof HttpError) throw parameters
  const windowFor = (plan: Plan): Window => resolveWindow(parameters, plan, now)
  const values = {
    key_hash,
    now: now.toISOString(),
    today: dayOf(now),
    brand_id: parameters.brandId,
    windows: JSON.stringify(Object.fromEntries(PAID_PLANS.map((plan) => [plan, windowFor(plan)]))),
  }
  const [here, there] = await Promise.all([
    runPrepared({ env, log }, live, values),
    runPrepared({ env: replicaOf(context.env), log }, rows, values),
  ])

  const header = readHeader(here[0], log)
  const { plan } = authorize(header, log)
  const [, , , brandId, settled] = header ?? []
  if (brandId == null) throw httpError('brand')
  const { header: copied, page } = readPage(there, log)
  // What the replica has not heard of yet it cannot page through, and it pages through the window of the plan it knows.
  if (copied?.[2] !== plan || copied[3] !== brandId) {
    throw unavailable(new TypeError('The replica is behind'), log)
  }

  const window = windowFor(plan)
  const { brandId: asked, fromDate, toDate } = parameters
  const binding = { endpoint: PATH, brandId: asked, fromDate, toDate }
  const nextCursor =
    page.next && (await signCursor({ window, after: page.next }, binding, [env.CURSOR_SECRET]))
  const pagination = { pageSize: PAGE_SIZE, hasMore: nextCursor !== null, nextCursor }
  const meta = { brandId, fromDate: `${window.first}T00:00:00.000Z`, toDate: window.end, plan }
  const promised = earlier(settled, copied[4])
  return {
    body: `{"data":[${page.lines}],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`,
    headers: promised !== null && promised >= window.first ? { 'X-Data-Settled-Through': promised } : {},
    rows: page.rows,
    cacheable: window.last < dayOf(now),
  }
}

/** The more careful of two promises. */
const earlier = (one: string | null | undefined, other: string | null | undefined): string | null =>
  one == null || other == null ? null : one < other ? one : other

export default { fetch: endpoint({ path: PATH, answer }).fetch, statements: [live] }
