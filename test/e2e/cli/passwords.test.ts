import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../../emulator/postgres/embedded.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'

test('passwords migrates an empty database and lets the roles log in, once unless --replace-passwords', async () => {
  const { url, close } = await startEmbeddedPostgres()
  const passwords = (...args: string[]) =>
    runCommand('migrate.ts', ['--passwords', ...args], { MIGRATE_DATABASE_URL: url })
  try {
    const { code, stdout } = await passwords()
    const line = (name: string, role: string) =>
      expect.stringMatching(`^${name}=postgresql://${role}:[\\w-]{36}@127\\.0\\.0\\.1:\\d+/postgres$`)
    expect([code, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [line('DATABASE_URL', 'export_api_reader'), line('REFRESH_DATABASE_URL', 'export_api_refresher')],
    ])
    const { rows } = await withClient(url, (client) =>
      client.query(
        `select rolname from pg_roles where rolcanlogin and rolname like 'export_api%' order by 1`,
      ),
    )
    expect(rows.map(({ rolname }) => rolname)).toEqual(['export_api_reader', 'export_api_refresher'])

    expect(await passwords()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('--replace-passwords'),
    })
    const replaced = await passwords('--replace-passwords')
    expect([replaced.code, replaced.stdout === stdout]).toEqual([0, false])
  } finally {
    await close()
  }
})
