import { installed } from '../install.ts'
import { FIRST_DAY } from '../million.ts'
import { startServer } from '../processes.ts'
import { LAST_DAY } from '../volume.ts'
import { type Contender, type Contest, rowsIn } from './contender.ts'

const FIELDS = ['date', 'url', 'domain', 'isOwned', 'citations', 'ownedCitations']

/** Platformatic DB by one of its ways of paging: what is added to every page, and to the deep one. */
const platformatic = (
  paging: string,
  { every, deep }: { every: string; deep: (contest: Contest) => string },
): Contender => ({
  name: `Platformatic DB 3, ${paging}`,
  start: async (contest) => {
    const folder = await installed('platformatic', { '@platformatic/db': '3.67.0' })
    const fields = FIELDS.map((field) => `&fields=${field}`).join('')
    const path = `/dailyCitationShare/?where.brandId.eq=${contest.brandId}&where.date.gte=${FIRST_DAY}&where.date.lte=${LAST_DAY}&orderby.date=asc&orderby.urlHash=asc&limit=1000${fields}${every}`
    const headers = () => ({})
    return {
      server: await startServer('platformatic.ts', { databaseUrl: contest.databaseUrl, folder }),
      first: { path, headers },
      deep: { path: path + deep(contest), headers },
      rowsOf: rowsIn,
    }
  },
})

export const platformaticOffset = platformatic('offset', {
  every: '',
  deep: ({ depth }) => `&offset=${depth}`,
})

/** Its cursor is an order's fields as base64; it gives one only of fields that are sent, hence the key among them. */
export const platformaticCursor = platformatic('cursor', {
  every: '&fields=urlHash&cursor=true',
  deep: ({ before }) => {
    const cursor = Buffer.from(JSON.stringify({ date: before.date, urlHash: before.url_hash })).toString(
      'base64',
    )
    return `&startAfter=${encodeURIComponent(cursor)}`
  },
})
