import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { call } from '../../support/call.ts'
import { tenant } from '../../support/tenant.ts'
import { brand, database, exportKey, insert, type Organization, organization } from '../../support/world.ts'

const db = database()

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const KEY = /^svc_live_[0-9a-f]{64}$/
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs the command as a shell would. */
function run(
  args: readonly string[],
  DATABASE_URL: string = inject('databaseUrl'),
  input = '',
): Promise<Ran> {
  const env = { PATH: process.env.PATH, DATABASE_URL }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['cli/keys.ts', ...args],
      { cwd: ROOT, env },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

const as = ({ id, owner }: Organization) => ['--org', id, '--user', owner]

const create = (org: Organization, ...more: string[]) =>
  run(['create', ...as(org), '--label', 'A loader', ...more])

/** Expects exit code 1, one sentence on stderr and nothing on stdout. */
function expectRefused({ code, stdout, stderr }: Ran, sentence: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(sentence)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).not.toMatch(/\bat .+:\d+|select |svc_live_\w/)
}

const keysOf = async ({ id }: Organization) =>
  (await db.query('select * from api_keys where organization_id = $1 order by created_at', [id])).rows

/** Somebody else in an organization. */
async function colleague({ id }: Organization, role: string): Promise<Organization> {
  const owner = randomUUID()
  await insert(db, 'users', [{ id: owner, email: `${owner}@mail.example` }])
  await insert(db, 'memberships', [{ organization_id: id, user_id: owner, role }])
  return { id, owner }
}

describe.concurrent('keys create', () => {
  test('prints the key once, and the key reads at once', async () => {
    const { org, brandId } = await tenant(db)
    const { code, stdout, stderr } = await create(org)
    expect(code).toBe(0)
    const key = stdout.trimEnd()
    expect(key).toMatch(KEY)
    expect(stderr).not.toContain(key)
    const { data } = await call('/brands', { key })
    expect(data.map(({ id }) => id)).toEqual([brandId])
  })

  test('leaves its hash and its last four characters in the database, and no key', async () => {
    const org = await organization(db)
    const made = await create(org)
    const key = made.stdout.trimEnd()
    const [row] = await keysOf(org)
    expect(row).toMatchObject({
      created_by: org.owner,
      scope: 'export',
      label: 'A loader',
      last_four: key.slice(-4),
      brand_ids: null,
      expires_at: null,
      revoked_at: null,
    })
    expect(row.key_hash.equals(createHash('sha256').update(key).digest())).toBe(true)
    const { rows } = await db.query(`select keys::text from api_keys keys where organization_id = $1`, [
      org.id,
    ])
    expect(rows[0].keys).toContain(key.slice(-4))
    expect(rows[0].keys).not.toContain(key.slice('svc_live_'.length, -4))
  })

  test('limits a key to brands and to a time, and tells programs all of it in JSON', async () => {
    const { org, brandId } = await tenant(db, { plan: 'agency' })
    const [second, third] = [await brand(db, org), await brand(db, org)]
    const { code, stdout } = await create(
      org,
      ...['--brand', brandId, '--brand', second, '--expires', '2099-01-31T12:00:00+01:00', '--json'],
    )
    expect(code).toBe(0)
    const made = JSON.parse(stdout)
    expect(made).toMatchObject({
      id: expect.stringMatching(ID),
      key: expect.stringMatching(KEY),
      label: 'A loader',
      lastFour: made.key.slice(-4),
      state: 'active',
      brandIds: [brandId, second],
      createdBy: org.owner,
      expiresAt: '2099-01-31T11:00:00.000Z',
      revokedAt: null,
    })
    const statuses = [brandId, second, third].map(
      async (id) => (await call('/visibility', { key: made.key, query: { brandId: id } })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 404])
  })

  test.each([
    ['to a member', /owner or admin/, async () => create(await colleague(await organization(db), 'member'))],
    ['on a lite plan', /plan/, async () => create(await organization(db, { plan: 'lite' }))],
    [
      'for a brand of another organization',
      /brand/,
      async () => {
        const { brandId } = await tenant(db)
        return create(await organization(db), '--brand', brandId)
      },
    ],
    ['for a label that says nothing', /label/, async () => create(await organization(db), '--label', ' ')],
    [
      'with an expiry that is past',
      /expiry/,
      async () => create(await organization(db), '--expires', '2026-01-01'),
    ],
    [
      'with an expiry that is no time',
      /--expires/,
      async () => create(await organization(db), '--expires', '2099-02-30'),
    ],
    ['without a label', /--label/, async () => run(['create', ...as(await organization(db))])],
    [
      'for an organization that is no UUID',
      /--org/,
      async () => create({ ...(await organization(db)), id: 'acme' }),
    ],
    [
      'with an option that it does not have',
      /--colour/,
      async () => create(await organization(db), '--colour', 'red'),
    ],
  ])('is refused %s, in one sentence', async (_, sentence, refused) => {
    expectRefused(await refused(), sentence)
  })

  test('is refused when the plan’s keys are in use, until one of them is revoked', async () => {
    const org = await organization(db, { plan: 'pro' })
    await exportKey(db, org)
    const { id } = await exportKey(db, org)
    expectRefused(await create(org), /2 keys/)
    expect((await run(['revoke', ...as(org), '--key', id])).code).toBe(0)
    expect((await create(org)).code).toBe(0)
  })

  test('is refused in a sentence when the database is not named or cannot be reached', async () => {
    const args = ['create', ...as({ id: randomUUID(), owner: randomUUID() }), '--label', 'L']
    expectRefused(await run(args, ''), /DATABASE_URL/)
    expectRefused(await run(args, 'postgres://secret:word@127.0.0.1:1/none'), /^(?!.*word).*DATABASE_URL/)
  })
})

describe.concurrent('keys list', () => {
  test('tells each key’s state, newest first, and never a key', async () => {
    const org = await organization(db)
    const at = (day: number) => ({ created_at: `2026-10-0${day}T00:00:00Z` })
    const past = '2026-10-20T00:00:00Z'
    const active = await exportKey(db, org, { ...at(1), label: 'first' })
    const revoked = await exportKey(db, org, { ...at(2), label: 'second', revoked_at: past })
    const expired = await exportKey(db, org, { ...at(3), label: 'third', expires_at: past })
    await exportKey(db, org, { ...at(4), scope: 'tools', label: 'tools' })
    await exportKey(db, await organization(db))

    const { code, stdout } = await run(['list', ...as(org), '--json'])
    expect(code).toBe(0)
    const listed: { id: string; state: string; label: string }[] = JSON.parse(stdout)
    expect(listed.map(({ id, state, label }) => [id, state, label])).toEqual([
      [expired.id, 'expired', 'third'],
      [revoked.id, 'revoked', 'second'],
      [active.id, 'active', 'first'],
    ])

    const plain = await run(['list', ...as(org)])
    const lines = plain.stdout.trimEnd().split('\n')
    expect([plain.code, lines.length]).toEqual([0, 3])
    expect(lines[2]).toContain(active.key.slice(-4))
    for (const { key } of [active, revoked, expired]) {
      const hash = createHash('sha256').update(key).digest('hex')
      for (const text of [stdout, plain.stdout]) {
        expect(text).not.toContain(key.slice(9, -4))
        expect(text).not.toContain(hash)
      }
    }
  })

  test('is refused to a member', async () => {
    expectRefused(
      await run(['list', ...as(await colleague(await organization(db), 'member'))]),
      /owner or admin/,
    )
  })
})

describe.concurrent('keys revoke', () => {
  test('stops the key at once, and leaves the others', async () => {
    const { org, keyId, key } = await tenant(db)
    const { key: other } = await exportKey(db, org)
    expect((await call('/brands', { key })).status).toBe(200)
    const { code, stdout } = await run(['revoke', ...as(org), '--key', keyId, '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: keyId, state: 'revoked' }])
    expect((await call('/brands', { key })).status).toBe(401)
    expect((await call('/brands', { key: other })).status).toBe(200)
  })

  test('is refused, without repeating it, to who gives the key for its id', async () => {
    const { org, key } = await tenant(db)
    expectRefused(await run(['revoke', ...as(org), '--key', key]), /--key .*svc_live_….* UUID/)
  })

  test('is refused for a key of another organization, which works on', async () => {
    const { keyId, key } = await tenant(db)
    expectRefused(await run(['revoke', ...as(await organization(db)), '--key', keyId]), /no such key/)
    expect((await call('/brands', { key })).status).toBe(200)
  })
})

describe.concurrent('keys check', () => {
  test('finds keys in what it reads, exits 1 for a real one, and repeats none', async () => {
    const made = (await create(await organization(db))).stdout.trimEnd()
    const { code, stdout, stderr } = await run(['check'], '', `nothing\n+KEY="${made}"\n`)
    expect([code, stderr]).toEqual([1, ''])
    const hash = createHash('sha256').update(made).digest('hex')
    expect(stdout).toBe(`line 2  svc_live_…${made.slice(-4)}  real: its checksum is right  SHA-256 ${hash}\n`)
  })

  test('exits 0 when none is real', async () => {
    const old = `svc_live_${'de30'.repeat(16)}`
    expect(await run(['check'], '', old)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/no checksum/),
      stderr: '',
    })
    expect(await run(['check', '--json'], '')).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
  })
})

test('the last key that a plan allows goes to one of two processes', async () => {
  const org = await organization(db, { plan: 'pro' })
  await exportKey(db, org)
  const outcomes = await Promise.all([create(org), create(org)])
  expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1])
  expect(await keysOf(org)).toHaveLength(2)
})
