import { InvalidArgumentError } from 'commander'
import { withDatabase } from '../drizzle/db/connect.ts'
import { SCHEMA_NAME } from '../drizzle/db/migrate.ts'
import { createCommand } from './command.ts'
import { run } from './run.ts'
import { migrateToLatest } from './workers/migrate-to-latest.ts'

const schemaName = (text: string): string => {
  if (SCHEMA_NAME.test(text)) return text
  throw new InvalidArgumentError('Use lower-case letters, digits and underscores, such as export_api.')
}

const { schema } = createCommand('migrate')
  .option('--schema <name>', 'create the tables in this schema instead of public', schemaName)
  .parse()
  .opts<{ schema?: string }>()

await run(async () => {
  await withDatabase((client) => migrateToLatest(client, schema))
  console.log('The database has the current schema.')
})
