import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listening, toBudget } from './listening.ts'

// REST over the schema of the daily tables, read only by what is asked of it; pages as large as the others'.
const { databaseUrl, folder = '' } = toBudget()
writeFileSync(
  join(folder, 'platformatic.json'),
  JSON.stringify({
    $schema: 'https://schemas.platformatic.dev/@platformatic/db/3.67.0.json',
    db: {
      connectionString: databaseUrl,
      schema: ['daily'],
      schemalock: false,
      graphql: false,
      openapi: true,
      limit: { default: 1000, max: 1000 },
      poolSize: 20,
    },
    watch: false,
    server: { hostname: '127.0.0.1', port: 0, logger: { level: 'error' } },
  }),
)
const { create } = await import(createRequire(join(folder, 'package.json')).resolve('@platformatic/db'))
const product = await create(folder, undefined, {
  isEntrypoint: true,
  serverConfig: { hostname: '127.0.0.1', port: 0, logger: { level: 'error' } },
})
await product.init()
await product.start({ listen: true })
listening(product.getUrl())
