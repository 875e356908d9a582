import { FIRST_DAY } from '../million.ts'
import { startServer } from '../processes.ts'
import { LAST_DAY } from '../volume.ts'
import { at, type Contender, rowsIn } from './contender.ts'

/** Hono on Node with pg: what one would write by hand, without access checks. */
export const byHand: Contender = {
  name: 'Hono + pg, by hand',
  start: async ({ databaseUrl, brandId, before }) => {
    const path = `/citation-share?${new URLSearchParams({ brandId, fromDate: FIRST_DAY, toDate: LAST_DAY })}`
    const cursor = Buffer.from(JSON.stringify([before.date, before.url_hash])).toString('base64url')
    const headers = () => ({})
    return {
      server: await startServer('by-hand.ts', { databaseUrl }),
      first: { path, headers },
      deep: { path: `${path}&cursor=${cursor}`, headers },
      rowsOf: (body) => rowsIn(at(body, 'data')),
    }
  },
}
