import { installed } from '../install.ts'
import { at, type Contender, type Row, rowsIn } from './contenders.ts'
import { FIRST_DAY } from './million.ts'
import { startProcess } from './servers/start.ts'
import { LAST_DAY } from './volume.ts'

const FIELDS = ['date', 'url', 'domain', 'isOwned', 'citations', 'ownedCitations']

/** PostGraphile with its own cursors. It has no date filter here. */
export const postgraphile: Contender = {
  name: 'PostGraphile 5',
  start: async ({ databaseUrl, brandId }) => {
    const folder = await installed('postgraphile-5', { postgraphile: '5.1.5', graphql: '16.15.0' })
    return {
      ...(await startProcess('postgraphile.ts', { databaseUrl, folder })),
      page: (cursor) => ({
        path: '/graphql',
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          query: `query ($after: Cursor) {
            allCitationShares(condition: { brandId: "${brandId}" }, orderBy: PRIMARY_KEY_ASC, first: 1000, after: $after) {
              nodes { ${FIELDS.join(' ')} } pageInfo { hasNextPage endCursor } } }`,
          variables: { after: cursor },
        }),
      }),
      next: (body) => {
        const info = at(body, 'data', 'allCitationShares', 'pageInfo')
        return at(info, 'hasNextPage') === true ? String(at(info, 'endCursor')) : null
      },
      rows: (body) => rowsIn(at(body, 'data', 'allCitationShares', 'nodes')),
    }
  },
}

/** Platformatic DB with cursors, which are made of the last row. The key's fields have to be sent for that. */
export const platformatic: Contender = {
  name: 'Platformatic DB 3',
  start: async ({ databaseUrl, brandId }) => {
    const folder = await installed('platformatic', { '@platformatic/db': '3.67.0' })
    const fields = [...FIELDS, 'urlHash'].map((field) => `&fields=${field}`).join('')
    const path = `/dailyCitationShare/?where.brandId.eq=${brandId}&where.date.gte=${FIRST_DAY}&where.date.lte=${LAST_DAY}&orderby.date=asc&orderby.urlHash=asc&limit=1000&cursor=true${fields}`
    return {
      ...(await startProcess('platformatic.ts', { databaseUrl, folder })),
      page: (cursor) => ({ path: cursor === null ? path : `${path}&startAfter=${cursor}` }),
      next: (body) => {
        const rows = rowsIn(body)
        return rows.length < 1000 ? null : cursorOf(rows.at(-1))
      },
      rows: rowsIn,
    }
  },
}

const cursorOf = (row: Row | undefined): string =>
  encodeURIComponent(
    Buffer.from(JSON.stringify({ date: row?.date, urlHash: row?.urlHash })).toString('base64'),
  )
