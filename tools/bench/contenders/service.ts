import { randomUUID } from 'node:crypto'
import { BINDINGS } from '../../../emulator/workers/bindings.ts'
import { BASE } from '../../../lib/app.ts'
import { signCursor } from '../../../lib/cursor.ts'
import { BUDGET } from '../../../lib/rate-limit.ts'
import { FIRST_DAY } from '../million.ts'
import { startServer } from '../processes.ts'
import { LAST_DAY } from '../volume.ts'
import { at, type Contender, type Contest, rowsIn } from './contender.ts'

const PATH = '/citation-share'

/** The service itself: workerd, with the emulator in front of PostgreSQL and Redis. */
export const service: Contender = {
  name: 'this service',
  start: async (contest) => ({
    server: await startServer('service.ts', { databaseUrl: contest.databaseUrl, redisUrl: contest.redisUrl }),
    ...(await servicePages(contest)),
    rowsOf: (body) => rowsIn(at(body, 'data')),
    program: 'workerd',
    counts: true,
  }),
}

/** How the service is asked for the first page and the deep one, with a key. */
export async function servicePages({ key, brandId, before }: Pick<Contest, 'key' | 'brandId' | 'before'>) {
  const headers = callers(key)
  const asked = { brandId, fromDate: FIRST_DAY, toDate: LAST_DAY }
  const path = `${BASE}${PATH}?${new URLSearchParams(asked)}`
  const cursor = await signCursor(
    {
      window: { first: FIRST_DAY, last: LAST_DAY, end: `${LAST_DAY}T23:59:59.999Z` },
      after: [before.date, before.url_hash],
    },
    { endpoint: PATH, ...asked },
    [BINDINGS.CURSOR_SECRET],
  )
  return { first: { path, headers }, deep: { path: `${path}&cursor=${cursor}`, headers } }
}

/** Headers with a key, from a new caller as soon as one has spent most of its budget. */
export function callers(key: string): () => Record<string, string> {
  const run = randomUUID()
  let requests = 0
  return () => {
    requests += 1
    const caller = Math.floor(requests / (BUDGET.requests * 0.9))
    return { 'X-API-Key': key, 'User-Agent': `${run} ${caller}` }
  }
}
