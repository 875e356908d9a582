import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { UsageError, withClient } from '../../drizzle/db/connect.ts'
import { loadDevVars } from '../dev-vars.ts'
import { migrateSchema } from '../workers/migrate-to-latest.ts'
import { SETTINGS, throughPooler } from './settings.ts'

/** The Workers' roles by the setting that holds their connection string. */
const ROLES = { DATABASE_URL: 'export_api_reader', REFRESH_DATABASE_URL: 'export_api_refresher' } as const

/** Migrates, sets passwords for the Workers' roles and prints their connection strings, once. */
export async function setPasswords(replace: boolean): Promise<void> {
  loadDevVars()
  const { description, form } = SETTINGS.MIGRATE_DATABASE_URL
  const owner = process.env.MIGRATE_DATABASE_URL ?? ''
  if (!form.test(owner))
    throw new UsageError(`MIGRATE_DATABASE_URL must be ${description}. Write it into .dev.vars.`)
  await withClient(
    owner,
    async (client) => {
      await migrateSchema(client)
      if (!replace && (await canLogIn(client))) {
        throw new UsageError(
          'The roles already have passwords. To replace them, pass --replace-passwords and run npm run deploy immediately.',
        )
      }
      for (const [setting, role] of Object.entries(ROLES)) {
        // Neon requires upper and lower case, digits and a special character.
        const password = `${randomBytes(24).toString('base64url')}-Aa1`
        await client.query(`alter role ${role} login password ${client.escapeLiteral(password)}`)
        console.log(`${setting}=${addressOf(owner, role, password)}`)
      }
    },
    'MIGRATE_DATABASE_URL',
  )
  console.error('Copy these two lines into .dev.vars. They are not shown again.')
}

async function canLogIn(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_roles where rolcanlogin and rolname = any ($1)', [
    Object.values(ROLES),
  ])
  return (rowCount ?? 0) > 0
}

function addressOf(owner: string, role: string, password: string): string {
  return throughPooler(Object.assign(new URL(owner), { username: role, password }).href)
}
