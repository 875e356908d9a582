import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listening, toBudget } from './listening.ts'

// As its guide sets it up for production, over the schema of the daily tables.
const { databaseUrl, folder = '' } = toBudget()
const { postgraphile } = createRequire(join(folder, 'package.json'))('postgraphile')
const handler = postgraphile({ connectionString: databaseUrl, max: 20 }, ['daily'], {
  disableDefaultMutations: true,
  disableQueryLog: true,
  dynamicJson: true,
  graphiql: false,
  ignoreRBAC: false,
  retryOnInitFail: false,
})
const server = createServer(handler).listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') listening(`http://127.0.0.1:${address.port}`)
})
