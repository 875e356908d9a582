import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listening, serverOptions } from './child.ts'

const { databaseUrl, folder = '' } = serverOptions()
const server = { hostname: '127.0.0.1', port: 0, logger: { level: 'error' } }
const db = {
  connectionString: databaseUrl,
  schema: ['daily'],
  schemalock: false,
  graphql: false,
  openapi: true,
  limit: { default: 1000, max: 1000 },
  poolSize: 20,
}
const $schema = 'https://schemas.platformatic.dev/@platformatic/db/3.67.0.json'
writeFileSync(join(folder, 'platformatic.json'), JSON.stringify({ $schema, db, watch: false, server }))
const { create } = await import(createRequire(join(folder, 'package.json')).resolve('@platformatic/db'))
const product = await create(folder, undefined, { isEntrypoint: true, serverConfig: server })
await product.init()
await product.start({ listen: true })
listening(product.getUrl())
