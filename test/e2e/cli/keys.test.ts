import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { call } from '../../support/call.ts'
import { type CommandResult, runCommand } from '../../support/command.ts'
import { tenant } from '../../support/tenant.ts'
import { brand, database, exportKey, type Organization, organization } from '../../support/world.ts'

// What the key functions allow is tested in test/e2e/keys.test.ts; here is the command around them.

const db = database()
const KEY = /^svc_live_[0-9a-f]{64}$/

const keys = (args: readonly string[], DATABASE_URL: string = inject('databaseUrl'), stdin = '') =>
  runCommand('keys.ts', args, { DATABASE_URL }, { stdin })

const as = ({ id, owner }: Organization) => ['--org', id, '--user', owner]
const create = (org: Organization, ...more: string[]) =>
  keys(['create', ...as(org), '--label', 'A loader', ...more])

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

/** Expects exit code 1 and one sentence on stderr, without a stack, SQL or a key. */
function expectUsageError({ code, stdout, stderr }: CommandResult, message: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toMatch(/\bat .+:\d+|select |svc_live_\w/)
}

describe.concurrent('npm run keys', () => {
  test('create prints the key once and stores only its hash; revoke stops it at once', async () => {
    const { org, brandId } = await tenant(db)
    const created = await create(org)
    const key = created.stdout.trimEnd()
    expect([created.code, key]).toEqual([0, expect.stringMatching(KEY)])
    expect(created.stderr).not.toContain(key)
    expect((await call('/brands', { key })).data.map(({ id }) => id)).toEqual([brandId])

    const { rows } = await db.query(
      `select id, row_to_json(keys)::text as row from api_keys keys where label = 'A loader'
      and organization_id = $1`,
      [org.id],
    )
    expect(rows[0].row).toContain(hashOf(key))
    expect(rows[0].row).not.toContain(key.slice('svc_live_'.length, -4))

    const revoked = await keys(['revoke', ...as(org), '--key', rows[0].id, '--json'])
    expect([revoked.code, JSON.parse(revoked.stdout)]).toMatchObject([
      0,
      { id: rows[0].id, state: 'revoked' },
    ])
    expect((await call('/brands', { key })).status).toBe(401)
  })

  test('create --json limits a key to brands and to a time', async () => {
    const { org, brandId } = await tenant(db, { plan: 'agency' })
    const other = await brand(db, org)
    const expires = ['--expires', '2099-01-31T12:00:00+01:00']
    const { stdout } = await create(org, '--brand', brandId, '--brand', other, ...expires, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      id: expect.any(String),
      key: expect.stringMatching(KEY),
      label: 'A loader',
      state: 'active',
      brandIds: [brandId, other],
      createdBy: org.owner,
      expiresAt: '2099-01-31T11:00:00.000Z',
    })
  })

  test('list prints a line for each key, newest first, and no key or hash', async () => {
    const org = await organization(db)
    const old = await exportKey(db, org, { created_at: '2026-10-01T00:00:00Z', label: 'old' })
    const key = await exportKey(db, org, { created_at: '2026-10-02T00:00:00Z', label: 'new' })
    const { code, stdout } = await keys(['list', ...as(org)])
    const lines = stdout.trimEnd().split('\n')
    expect([code, lines]).toEqual([
      0,
      [key, old].map(({ id, key }) =>
        expect.stringMatching(`^${id}  active   …${key.slice(-4)}  all brands`),
      ),
    ])
    for (const { key: secret } of [old, key]) {
      expect(stdout).not.toContain(secret.slice(9, -4))
      expect(stdout).not.toContain(hashOf(secret))
    }
  })

  const nobody = as({ id: randomUUID(), owner: randomUUID() })
  test.for([
    ['a rejected request', ['create', ...nobody, '--label', 'L'], /owner or admin/],
    ['a malformed option', ['create', ...nobody, '--label', 'L', '--expires', '2099-02-30'], /--expires/],
    ['a key as an id', ['revoke', ...nobody, '--key', `svc_live_${'de30'.repeat(16)}`], /--key .*svc_live_…/],
  ] as const)('%s is one sentence', async ([, args, message]) => {
    expectUsageError(await keys(args), message)
  })

  test('a missing and an unreachable database are one sentence each', async () => {
    const list = ['list', ...nobody]
    expectUsageError(await keys(list, ''), /DATABASE_URL/)
    expectUsageError(await keys(list, 'postgres://secret:word@127.0.0.1:1/none'), /^(?!.*word).*DATABASE_URL/)
  })

  test('check finds keys on stdin, prints none, and exits with 1 for a valid checksum', async () => {
    const { stdout: made } = await create(await organization(db))
    const key = made.trimEnd()
    expect(await keys(['check'], '', `nothing\n+KEY="${key}"\n`)).toEqual({
      code: 1,
      stdout: `line 2  svc_live_…${key.slice(-4)}  valid checksum  SHA-256 ${hashOf(key)}\n`,
      stderr: '',
    })
    expect(await keys(['check', '--json'], '')).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
  })
})
