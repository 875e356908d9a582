import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { mintApiKey } from '../../../lib/request/api-key.ts'
import { call } from '../../fixtures/call.ts'
import { runCommand } from '../../fixtures/command.ts'
import { brand, database, type Organization } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'

// What the key functions allow is tested in test/e2e/keys.test.ts; here is the command around them.

const db = database()
const KEY = /^svc_live_[0-9a-f]{64}$/

const keys = (args: readonly string[], DATABASE_URL: string = inject('databaseUrl'), stdin = '') =>
  runCommand('keys.ts', args, { DATABASE_URL }, { stdin })

const as = ({ id, owner }: Organization) => ['--org', id, '--user', owner]
const create = (org: Organization, ...more: string[]) =>
  keys(['create', ...as(org), '--label', 'A loader', ...more])

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

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
  expect([revoked.code, JSON.parse(revoked.stdout)]).toMatchObject([0, { id: rows[0].id, state: 'revoked' }])
  expect((await call('/brands', { key })).status).toBe(401)
})

test('create --json limits a key to brands and to a time; list prints no key and no hash', async () => {
  const { org, brandId, key: old } = await tenant(db, { key: { created_at: '2026-10-01T00:00:00Z' } })
  const other = await brand(db, org)
  const expires = ['--expires', '2099-01-31T12:00:00+01:00']
  const { stdout } = await create(org, '--brand', brandId, '--brand', other, ...expires, '--json')
  const made = JSON.parse(stdout)
  expect(made).toMatchObject({
    id: expect.any(String),
    key: expect.stringMatching(KEY),
    label: 'A loader',
    state: 'active',
    brandIds: [brandId, other],
    createdBy: org.owner,
    expiresAt: '2099-01-31T11:00:00.000Z',
  })
  const listed = await keys(['list', ...as(org)])
  expect([listed.code, listed.stdout.trimEnd().split('\n')]).toEqual([
    0,
    [
      expect.stringMatching(`^${made.id}  active   …${made.key.slice(-4)}  `),
      expect.stringMatching(`^\\S+  active   …${old.slice(-4)}  all brands`),
    ],
  ])
  for (const key of [old, made.key]) {
    expect(listed.stdout).not.toContain(key.slice(9, -4))
    expect(listed.stdout).not.toContain(hashOf(key))
  }
})

test('rotate prints the successor once; list shows which replaces which; log has what the users did', async () => {
  const { org, keyId } = await tenant(db)
  const rotated = await keys(['rotate', ...as(org), '--key', keyId, '--overlap', '24h'])
  expect([rotated.code, rotated.stdout]).toEqual([0, expect.stringMatching(/^svc_live_[0-9a-f]{64}\n$/)])
  const id = /Its id is (\S+)\./.exec(rotated.stderr)?.[1]
  const listed = (await keys(['list', ...as(org)])).stdout
  expect(listed).toMatch(new RegExp(`${id}  active .*, replaces ${keyId}  `))
  expect(listed).toMatch(new RegExp(`${keyId}  active .*, expires .*Z, replaced by ${id}  `))
  const log = await keys(['log', ...as(org)])
  const events = [
    `rotated  ${keyId}  by ${org.owner}, replaced by ${id}`,
    `created  ${id}  by ${org.owner}`,
    `created  ${keyId}  by SQL`,
  ]
  expect(log.stdout).toMatch(new RegExp(`^${events.map((event) => `\\S+Z  ${event}\n`).join('')}$`))
})

test('list prints no character of a label that a terminal interprets', async () => {
  const label = 'Ünïcode \u001b[2J\n\u007f\u009b31m\u202e'
  const { org } = await tenant(db, { key: { label } })
  const { stdout } = await keys(['list', ...as(org)])
  expect(stdout).toMatch(/ {2}Ünïcode \\u001b\[2J\\u000a\\u007f\\u009b31m\\u202e\n$/)
  const json = await keys(['list', ...as(org), '--json'])
  expect(json.stdout).toMatch(/\\u001b\[2J\\n\\u007f\\u009b31m\\u202e/)
})

const stranger = as({ id: randomUUID(), owner: randomUUID() })
const NO_DATABASE = 'postgres://secret:word@127.0.0.1:1/none'

test.for([
  ['a rejected request', 1, ['create', '--label', 'L'], undefined, /owner or admin/],
  ['an unreachable database', 1, ['list'], NO_DATABASE, /^(?!.*word).*DATABASE_URL/],
  [
    'a key as an id',
    64,
    ['revoke', '--key', `svc_live_${'de30'.repeat(16)}`],
    undefined,
    /--key .*svc_live_…/,
  ],
  [
    'a duration without a unit',
    64,
    ['rotate', '--key', randomUUID(), '--overlap', '24'],
    undefined,
    /--overlap .*24h/,
  ],
] as const)('%s exits with %i and one sentence, without a stack, SQL or a key', async ([
  ,
  exitCode,
  args,
  url,
  message,
]) => {
  const { code, stdout, stderr } = await keys([...args, ...stranger], url)
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toMatch(/\bat .+:\d+|select |svc_live_\w/)
})

test('check finds keys on stdin, prints none, and exits with 1 for a valid checksum', async () => {
  const key = mintApiKey()
  expect(await keys(['check'], '', `nothing\n+KEY="${key}"\n`)).toEqual({
    code: 1,
    stdout: `line 2  svc_live_…${key.slice(-4)}  valid checksum  SHA-256 ${hashOf(key)}\n`,
    stderr: '',
  })
})

test('share writes the profile file of a key, which its owner alone can read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'share-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const key = mintApiKey()
  // .dev.vars is read from the working directory.
  const share = (environment: Record<string, string>, ...args: string[]) =>
    runCommand('keys.ts', ['share', ...args], { EXPORT_API_KEY: `${key}\n`, ...environment }, { cwd: folder })

  const { code, stderr } = await share({})
  expect([code, stderr]).toEqual([1, expect.stringMatching(/Set API_URL or pass --endpoint/)])
  expect(await readdir(folder)).toEqual([])

  const API_URL = 'https://api.example.com/'
  await writeFile(join(folder, 'other.share'), 'a previous profile', { mode: 0o644 })
  for (const [name, environment, args] of [
    ['export.share', { API_URL }, []],
    ['other.share', {}, ['--endpoint', `${API_URL}api/sharing/v1`, '--out', 'other.share']],
  ] as const) {
    const result = await share(environment, ...args)
    expect(result).toEqual({ code: 0, stdout: `Wrote ${name}. It contains the key.\n`, stderr: '' })
    expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toEqual({
      shareCredentialsVersion: 1,
      endpoint: 'https://api.example.com/api/sharing/v1',
      bearerToken: key,
    })
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  }
  expect(await readdir(folder)).toHaveLength(2)
})
