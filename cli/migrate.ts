import { InvalidArgumentError } from 'commander'
import { withDatabase } from '../drizzle/db/connect.ts'
import { SCHEMA_NAME } from '../drizzle/db/migrate.ts'
import { setPasswords } from './deploy/passwords.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { run } from './run.ts'
import { migrateToLatest } from './workers/migrate-to-latest.ts'

const schemaName = (text: string): string => {
  if (SCHEMA_NAME.test(text)) return text
  throw new InvalidArgumentError('Use lower-case letters, digits and underscores, such as export_api.')
}

const { schema, passwords, replacePasswords } = createCommand('migrate', {
  description: 'Migrates the database to the current schema.',
  variables: {
    ...DATABASE_URL,
    MIGRATE_DATABASE_URL: "the owner's connection string for --passwords; also read from .dev.vars",
  },
})
  .option('--schema <name>', 'create the tables in this schema instead of public', schemaName)
  .option('--passwords', "set passwords for the Workers' roles and print their connection strings, once")
  .option(
    '--replace-passwords',
    'also replace existing ones; live Workers fail until the next npm run deploy',
  )
  .parse()
  .opts<{ schema?: string; passwords?: boolean; replacePasswords?: boolean }>()

await run(async () => {
  if (passwords || replacePasswords) return setPasswords(replacePasswords === true)
  await withDatabase((client) => migrateToLatest(client, schema))
  console.log('The database has the current schema.')
})
