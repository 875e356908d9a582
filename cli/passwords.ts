import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import type pg from 'pg'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError, withClient } from '../drizzle/db/connect.ts'
import { SETTINGS } from './deploy/settings.ts'
import { loadDevVars } from './dev-vars.ts'
import { run } from './run.ts'

/** The Workers' roles, each by the setting that its address goes into. */
const ROLES = { DATABASE_URL: 'export_api_reader', REFRESH_DATABASE_URL: 'export_api_refresher' } as const

const { replace } = new Command('passwords')
  .description("Gives the Workers' roles passwords and prints the addresses for .dev.vars, this once.")
  .option(
    '--replace',
    'also where they have some, which live Workers cannot use any more until they are deployed anew',
  )
  .parse()
  .opts<{ replace?: boolean }>()

await run(async () => {
  loadDevVars()
  const { is, form } = SETTINGS.MIGRATE_DATABASE_URL
  const owner = process.env.MIGRATE_DATABASE_URL ?? ''
  if (!form.test(owner) || !URL.canParse(owner)) throw new UsageError(`MIGRATE_DATABASE_URL must be ${is}.`)
  await withClient(
    owner,
    async (client) => {
      await migrateToLatest(client)
      if (!replace && (await haveLogins(client))) {
        throw new UsageError(
          'The roles have passwords already: --replace gives them others, deploy at once then.',
        )
      }
      for (const [setting, role] of Object.entries(ROLES)) {
        // Letters of both cases, digits and a sign are what Neon asks for.
        const password = `${randomBytes(24).toString('base64url')}-Aa1`
        await client.query(`alter role ${role} login password ${client.escapeLiteral(password)}`)
        console.log(`${setting}=${addressOf(owner, role, password)}`)
      }
    },
    'MIGRATE_DATABASE_URL',
  )
  console.error('Put these two lines into .dev.vars: they are not shown again.')
})

async function haveLogins(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_roles where rolcanlogin and rolname = any ($1)', [
    Object.values(ROLES),
  ])
  return (rowCount ?? 0) > 0
}

function addressOf(owner: string, role: string, password: string): string {
  const address = new URL(owner)
  address.username = role
  address.password = password
  return address.href
}
