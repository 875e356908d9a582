import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listening, serverOptions } from './child.ts'

const { databaseUrl, folder = '' } = serverOptions()
const require = createRequire(join(folder, 'package.json'))
const load = async (name: string) => import(require.resolve(name))
const { postgraphile } = await load('postgraphile')
const { PostGraphileAmberPreset } = await load('postgraphile/presets/amber')
const { makePgService } = await load('postgraphile/adaptors/pg')
const { grafserv } = await load('postgraphile/grafserv/node')
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: databaseUrl, schemas: ['daily'], poolConfig: { max: 20 } })],
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
})
const server = createServer()
await instance.createServ(grafserv).addTo(server)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') listening(`http://127.0.0.1:${address.port}`)
})
