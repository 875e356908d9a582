import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../fixtures/command.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { sample } from '../../fixtures/sample.ts'
import { installTriggers, prepareMapped } from '../../fixtures/schema.ts'

// Row level security that hides rows of the application from the service is an error, never a smaller number.

const role = `plain_${randomBytes(6).toString('hex')}`
const { db, url } = await isolatedPool(async (client) => {
  await prepareMapped(client)
  await installTriggers(client)
  await client.query(`create role ${role}`)
})
const { organization } = await sample(db)
afterAll(() => db.query(`drop owned by ${role}; drop role ${role}`))

/** Runs work while the owner of a view cannot see the rows of the table under it. */
async function withHiddenRows(view: string, table: string, work: () => Promise<unknown>): Promise<void> {
  await db.query(`
    grant usage on schema app, export_source to ${role}; grant create on schema export_source to ${role};
    grant select on ${table} to ${role}; alter view export_source.${view} owner to ${role};
    alter table ${table} enable row level security`)
  await work().finally(() =>
    db.query(
      `alter table ${table} disable row level security; alter view export_source.${view} owner to current_user`,
    ),
  )
}

const COMMANDS: readonly (readonly [string, string, string, string, readonly string[]])[] = [
  ...['answers', 'prompts', 'citations', 'brands'].map((view) => {
    const table =
      { answers: 'llm_runs', prompts: 'questions', citations: 'links', brands: 'tracked_brands' }[view] ?? ''
    return ['refresh', view, `app.${table}`, table, []] as const
  }),
  ['verify', 'sentiment_phrases', 'app.feelings', 'feelings', []],
  ['keys', 'memberships', 'app.seats', 'seats', ['list', '--org', organization, '--user', organization]],
]

test.each(COMMANDS)('%s ends with an error when rows of %s are hidden', (command, view, table, name, args) =>
  withHiddenRows(view, table, async () => {
    const { code, stdout, stderr } = await runCommand(`${command}.ts`, args, { DATABASE_URL: url })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(name)
    expect(stderr).toContain('BYPASSRLS')
  }))

describe.each([
  ['export_api_reader', 'subscriptions', 'app.billing'],
  ['export_api_refresher', 'answers', 'app.llm_runs'],
  ['export_api_keys', 'memberships', 'app.seats'],
])('%s', (reader, view, table) => {
  test('has the setting that makes hidden rows an error', async () => {
    const { rows } = await db.query(
      `select from pg_db_role_setting join pg_database on oid = setdatabase
       where setrole = $1::regrole and datname = current_database() and 'row_security=off' = any (setconfig)`,
      [reader],
    )
    expect(rows).toHaveLength(1)
  })

  test('raises it', () =>
    withHiddenRows(view, table, async () => {
      const client = await db.connect()
      const statement =
        reader === 'export_api_refresher' ? 'select daily.start_refresh(true)' : `table export_source.${view}`
      try {
        await client.query(`set role ${reader}; set row_security = off`)
        await expect(client.query(statement)).rejects.toThrow(/row.level security/i)
      } finally {
        await client.query('reset role; reset row_security')
        client.release()
      }
    }))
})

test('the statements of the Workers raise it, whatever role runs them', () =>
  withHiddenRows('memberships', 'app.seats', async () => {
    const { rows } = await db.query<{ call: string }>(
      `select format('select from statements.%I(%s)', proname, array_to_string(array_fill('null'::text, array[pronargs]), ',')) as call
       from pg_proc where pronamespace = 'statements'::regnamespace`,
    )
    expect(rows.length).toBeGreaterThan(6)
    for (const { call } of rows)
      await expect(db.query(call)).rejects.toThrow('row-level security policy for table "seats"')
  }))
