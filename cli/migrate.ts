import { InvalidArgumentError } from 'commander'
import { withDatabase } from '../drizzle/db/connect.ts'
import { SCHEMA_NAME } from '../drizzle/db/migrate.ts'
import { activateRowSchemas, stagedMetrics } from '../drizzle/db/row-schemas.ts'
import { setPasswords } from './deploy/passwords.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { run } from './run.ts'
import { migrateSchema } from './workers/migrate-to-latest.ts'

const schemaName = (text: string): string => {
  if (SCHEMA_NAME.test(text)) return text
  throw new InvalidArgumentError('Use lower-case letters, digits and underscores, such as export_api.')
}

const { schema, activate, passwords, replacePasswords } = createCommand('migrate', {
  description: 'Migrates the database to the current schema.',
  variables: {
    ...DATABASE_URL,
    MIGRATE_DATABASE_URL: "the owner's connection string for --passwords; also read from .dev.vars",
  },
})
  .option('--schema <name>', 'create the tables in this schema instead of public', schemaName)
  .option('--activate', 'also activate new fields of rows, which all live Workers must send')
  .option('--passwords', "set passwords for the Workers' roles and print their connection strings, once")
  .option(
    '--replace-passwords',
    'also replace existing ones; live Workers fail until the next npm run deploy',
  )
  .parse()
  .opts<{ schema?: string; activate?: boolean; passwords?: boolean; replacePasswords?: boolean }>()

await run(async () => {
  if (passwords || replacePasswords) return setPasswords(replacePasswords === true)
  const staged = await withDatabase(async (client) => {
    await migrateSchema(client, schema)
    if (activate) await activateRowSchemas(client)
    return stagedMetrics(client)
  })
  console.log('The database has the current schema.')
  if (staged.length === 0) return
  console.log(
    `Digests keep the previous fields of ${staged.join(', ')} until npm run deploy. After another deployment, run npm run migrate -- --activate.`,
  )
})
