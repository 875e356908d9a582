import { type Ask, connect, fetchBody } from '../drive.ts'
import { installed } from '../install.ts'
import { startServer } from '../processes.ts'
import { at, type Contender, rowsIn } from './contender.ts'

const FIELDS = `nodes { date url domain isOwned citations ownedCitations } pageInfo { hasNextPage endCursor }`

/** PostGraphile of one version, by its own cursor, which it gave itself with the row ahead of the deep page. */
const postgraphile = (version: string, script: string, packages: Record<string, string>): Contender => ({
  name: `PostGraphile ${version}, cursor`,
  start: async ({ databaseUrl, brandId, depth }) => {
    const folder = await installed(`postgraphile-${version}`, packages)
    const server = await startServer(script, { databaseUrl, folder })
    const ask = (range: string): Ask => ({
      path: '/graphql',
      method: 'POST',
      headers: () => ({ 'Content-Type': 'application/json' }),
      body: JSON.stringify({
        query: `{ allCitationShares(condition: { brandId: "${brandId}" }, orderBy: PRIMARY_KEY_ASC, ${range}) { ${FIELDS} } }`,
      }),
    })
    const pool = connect(server.url, 1)
    const ahead = JSON.parse((await fetchBody(pool, ask(`first: 1, offset: ${depth - 1}`))).toString())
    await pool.close()
    const cursor = String(at(ahead, 'data', 'allCitationShares', 'pageInfo', 'endCursor'))
    return {
      server,
      first: ask('first: 1000'),
      deep: ask(`first: 1000, after: "${cursor}"`),
      rowsOf: (body) => rowsIn(at(body, 'data', 'allCitationShares', 'nodes')),
    }
  },
})

export const postgraphile4 = postgraphile('4', 'postgraphile-4.ts', { postgraphile: '4.14.1' })

export const postgraphile5 = postgraphile('5', 'postgraphile-5.ts', {
  postgraphile: '5.1.5',
  graphql: '16.15.0',
})
