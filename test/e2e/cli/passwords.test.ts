import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../emulator/postgres/embedded.ts'
import { runCommand } from '../../support/command.ts'
import { withClient } from '../../support/database.ts'

let server: EmbeddedPostgres

beforeAll(async () => {
  server = await startEmbeddedPostgres()
})

afterAll(() => server.stop())

const passwords = (...args: string[]) =>
  runCommand('passwords.ts', args, { MIGRATE_DATABASE_URL: server.url })

const logins = () =>
  withClient(server.url, async (client) => {
    const { rows } = await client.query<{ rolname: string }>(
      `select rolname from pg_roles where rolcanlogin and rolname like 'export_api%' order by 1`,
    )
    return rows.map(({ rolname }) => rolname)
  })

test("an empty database becomes one that the Workers' roles can log in to, once", async () => {
  const { code, stdout } = await passwords()
  expect(code).toBe(0)
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(
      /^DATABASE_URL=postgresql:\/\/export_api_reader:[\w-]{36}@127\.0\.0\.1:\d+\/postgres$/,
    ),
    expect.stringMatching(/^REFRESH_DATABASE_URL=postgresql:\/\/export_api_refresher:[\w-]{36}@127/),
  ])
  expect(await logins()).toEqual(['export_api_reader', 'export_api_refresher'])

  const again = await passwords()
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--replace') })
  const replaced = await passwords('--replace')
  expect(replaced.code).toBe(0)
  expect(replaced.stdout).not.toBe(stdout)
})

test('without the owner’s address it says what is missing', async () => {
  const { code, stdout, stderr } = await runCommand('passwords.ts', [], {})
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('MIGRATE_DATABASE_URL must be')
})
