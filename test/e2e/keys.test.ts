import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { KeyRequestError } from '../../cli/keys/change-keys.ts'
import { createKey, listKeys, readKeyLog, revokeKey } from '../../cli/keys/keys.ts'
import { rotateKey } from '../../cli/keys/rotate-key.ts'
import type { KeyRequest } from '../../cli/keys/stored-keys.ts'
import { call } from '../fixtures/call.ts'
import { brand, database, exportKey, insert, type Organization, organization } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()
/** Connections with the role of `npm run keys`. */
const pool = new pg.Pool({
  connectionString: inject('databaseUrl'),
  max: 4,
  options: '-c role=export_api_keys',
})
const keysDb = drizzle({ client: pool })
afterAll(() => pool.end())

const NOW = new Date()
const PAST = new Date(NOW.getTime() - 1)

const actor = ({ id, owner }: Organization) => ({ organizationId: id, userId: owner })

const create = (org: Organization, request: Partial<KeyRequest> = {}, now: Date = NOW) =>
  createKey(keysDb, actor(org), { label: 'A loader', brandIds: null, expiresAt: null, ...request }, now)

const HOUR_MS = 3_600_000

const rotate = (org: Organization, keyId: string, overlapMs = HOUR_MS, now = NOW) =>
  rotateKey(keysDb, actor(org), { keyId, overlapMs }, now)

const later = (ms: number): Date => new Date(NOW.getTime() + ms)

/** Expects a `KeyRequestError` with a message. */
async function expectRejected(attempt: Promise<unknown>, sentence: RegExp): Promise<void> {
  const refusal = await attempt.catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(KeyRequestError)
  expect(String(refusal)).toMatch(sentence)
}

const countKeys = async ({ id }: Organization): Promise<number> =>
  (await db.query('select from api_keys where organization_id = $1', [id])).rowCount ?? 0

/** Another user of an organization. */
async function colleague({ id }: Organization, role: string): Promise<Organization> {
  const owner = randomUUID()
  await insert(db, 'users', [{ id: owner, email: `${owner}@mail.example` }])
  await insert(db, 'memberships', [{ organization_id: id, user_id: owner, role }])
  return { id, owner }
}

async function withKeys(org: Organization, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await exportKey(db, org)
}

test.each<[string, (who: Organization, keyId: string) => Promise<unknown>]>([
  ['creating', (who) => create(who)],
  ['listing', (who) => listKeys(keysDb, actor(who), NOW)],
  ['revoking', (who, keyId) => revokeKey(keysDb, actor(who), keyId, NOW)],
  ['rotating', (who, keyId) => rotate(who, keyId)],
  ['reading the log of', (who) => readKeyLog(keysDb, actor(who))],
])('%s keys is for owners and admins of the organization only', async (_, attempt) => {
  const { org, keyId, key } = await tenant(db)
  const strangers = [
    await colleague(org, 'member'),
    { ...org, owner: (await organization(db)).owner },
    { ...org, id: randomUUID() },
  ]
  for (const who of strangers) await expectRejected(attempt(who, keyId), /owner or admin/)
  expect(await countKeys(org)).toBe(1)
  expect((await call('/brands', { key })).status).toBe(200)
})

describe('creating a key', () => {
  test.each([
    ['lite', { plan: 'lite' }],
    ['past due', { plan: 'pro', status: 'past_due' }],
    ['canceled', { plan: 'enterprise', status: 'canceled' }],
    ['missing', null],
  ])('rejects a plan that is %s', async (_, subscription) => {
    const org = await organization(db, subscription)
    await expectRejected(create(org), /no active plan that includes the Export API/)
    expect(await countKeys(org)).toBe(0)
  })

  test.each([
    ['pro', 2],
    ['agency', 5],
    ['enterprise', 20],
  ] as const)('rejects a key beyond the %s plan’s %i', async (plan, allowed) => {
    const org = await organization(db, { plan })
    await withKeys(org, allowed - 1)
    await create(org)
    await expectRejected(create(org), new RegExp(`${allowed} active keys`))
    expect(await countKeys(org)).toBe(allowed)
  })

  test('does not count keys that are expired or revoked, of another scope or of another organization', async () => {
    const org = await organization(db, { plan: 'pro' })
    for (const values of [
      { revoked_at: PAST },
      { expires_at: PAST },
      { expires_at: NOW },
      { scope: 'tools' },
    ]) {
      await exportKey(db, org, values)
    }
    await withKeys(await organization(db, { plan: 'pro' }), 2)
    await create(org)
    await create(org, { expiresAt: new Date('2099-01-01') })
    await expectRejected(create(org), /2 active keys/)
  })

  test('rejects brands of other organizations, an expiry that is not in the future and an empty label', async () => {
    const { org, brandId } = await tenant(db)
    const { brandId: foreign } = await tenant(db)
    for (const brandIds of [[brandId, foreign], [foreign], [randomUUID()]])
      await expectRejected(create(org, { brandIds }), /brand/)
    for (const expiresAt of [PAST, NOW]) await expectRejected(create(org, { expiresAt }), /expiry/)
    for (const label of ['', '  ']) await expectRejected(create(org, { label }), /label/)
    expect(await countKeys(org)).toBe(1)
    expect((await create(org, { expiresAt: later(1) })).state).toBe('active')
  })

  test('takes a brand of the organization in either case and named twice, and stores it once', async () => {
    const { org, brandId } = await tenant(db)
    const { brandIds } = await create(org, { brandIds: [brandId.toUpperCase(), brandId, brandId] })
    expect(brandIds).toEqual([brandId])
  })

  test.each([
    'read committed',
    'repeatable read',
  ])('gives the last key that a plan allows to exactly one of six concurrent requests that spell the organization in several ways, in a database whose default is %s', async (isolation) => {
    const org = await organization(db, { plan: 'agency' })
    await withKeys(org, 4)
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
    const client = new pg.Pool({ connectionString: inject('databaseUrl'), max: 6, options })
    try {
      const request = { label: 'At once', brandIds: null, expiresAt: null }
      const digits = org.id.replaceAll('-', '')
      const spellings = [org.id, org.id.toUpperCase(), digits, `{${org.id}}`, org.id, digits.toUpperCase()]
      const attempts = spellings.map((id) =>
        createKey(drizzle({ client }), actor({ ...org, id }), request, NOW),
      )
      const refusals = attempts.map((attempt) =>
        attempt.catch((error: unknown) => error instanceof KeyRequestError),
      )
      expect((await Promise.all(refusals)).filter((refused) => refused === true)).toHaveLength(5)
    } finally {
      await client.end()
    }
    expect(await countKeys(org)).toBe(5)
  })
})

test.each([
  ['active', { expires_at: later(1) }],
  ['expired', { expires_at: NOW }],
  ['revoked', { revoked_at: PAST, expires_at: PAST }],
])('lists as %s a key with %j', async (state, values) => {
  const org = await organization(db)
  const { id } = await exportKey(db, org, values)
  expect(await listKeys(keysDb, actor(org), NOW)).toMatchObject([{ id, state }])
})

describe('revoking a key', () => {
  const revoke = (who: Organization, keyId: string) => revokeKey(keysDb, actor(who), keyId, NOW)

  test('again leaves the time of the first revocation', async () => {
    const org = await organization(db)
    const revokedAt = new Date('2026-10-01T12:00:00Z')
    const { id } = await exportKey(db, org, { revoked_at: revokedAt })
    expect(await revoke(org, id)).toMatchObject({ state: 'revoked', revokedAt })
    expect(await listKeys(keysDb, actor(org), NOW)).toMatchObject([{ revokedAt }])
  })

  test('rejects keys of other organizations and of other scopes', async () => {
    const org = await organization(db)
    const { keyId: foreign } = await tenant(db)
    const { id: tools } = await exportKey(db, org, { scope: 'tools' })
    for (const id of [randomUUID(), foreign, tools])
      await expectRejected(revoke(org, id), /no key with this id/)
    const unrevoked = 'select from api_keys where id = any ($1) and revoked_at is null'
    expect((await db.query(unrevoked, [[foreign, tools]])).rowCount).toBe(2)
  })
})

describe('rotating a key', () => {
  const END = later(2 * HOUR_MS)

  test('makes a successor with the same brands, label and lifetime, and lets the key expire after the overlap', async () => {
    const org = await organization(db)
    const [brandId] = [await brand(db, org), await brand(db, org)]
    const old = await create(org, { brandIds: [brandId], expiresAt: later(10 * HOUR_MS) })
    const admin = await colleague(org, 'admin')
    const made = await rotate(admin, old.id.toUpperCase(), HOUR_MS, later(HOUR_MS))
    expect(made).toMatchObject({
      label: old.label,
      brandIds: [brandId],
      createdBy: admin.owner,
      expiresAt: later(11 * HOUR_MS),
      replaces: old.id,
    })
    for (const { key } of [old, made])
      expect((await call('/brands', { key })).data.map(({ id }) => id)).toEqual([brandId])

    const listed = await listKeys(keysDb, actor(org), later(2 * HOUR_MS))
    expect(listed).toMatchObject([
      { id: made.id, state: 'active', replaces: old.id, replacedBy: null },
      { id: old.id, state: 'expired', replaces: null, replacedBy: made.id, expiresAt: later(2 * HOUR_MS) },
    ])
  })

  test('the two count once until the overlap ends or one of them is revoked', async () => {
    const org = await organization(db, { plan: 'pro' })
    const [first, second] = [await create(org), await create(org)]
    const successor = await rotate(org, first.id)
    await expectRejected(create(org), /2 active keys/)
    await revokeKey(keysDb, actor(org), second.id, NOW)
    await create(org)
    await expectRejected(create(org), /2 active keys/)
    // The rotated key stays until the overlap ends, and counts in the place of its successor.
    await revokeKey(keysDb, actor(org), successor.id, NOW)
    await expectRejected(create(org), /2 active keys/)
    await create(org, {}, later(HOUR_MS))
  })

  test('needs no free key and no active plan', async () => {
    const org = await organization(db, { plan: 'pro', status: 'past_due' })
    await withKeys(org, 1)
    const { id } = await exportKey(db, org)
    expect(await rotate(org, id)).toMatchObject({ replaces: id })
  })

  test('gives a key one successor when two rotations run at once', async () => {
    const { org, keyId } = await tenant(db)
    const attempts = [rotate(org, keyId), rotate(org, keyId)]
    const outcomes = (await Promise.allSettled(attempts)).map(({ status }) => status)
    expect(outcomes.sort()).toEqual(['fulfilled', 'rejected'])
    for (const attempt of attempts)
      await attempt.catch((error: unknown) => expect(String(error)).toMatch(/already rotated.*successor/))
    expect(await countKeys(org)).toBe(2)
  })

  test.each([
    ['revoked', { revoked_at: PAST }, HOUR_MS, /key is revoked/],
    ['expired', { expires_at: NOW }, HOUR_MS, /key is expired/],
    ['that expires during the overlap', { expires_at: later(HOUR_MS - 1) }, HOUR_MS, /expires at .*shorter/],
    ['created at its expiry', { expires_at: END, created_at: END }, HOUR_MS, /lifetime/],
    ['created before all time', { expires_at: END, created_at: '-infinity' }, HOUR_MS, /lifetime/],
    ['of another scope', { scope: 'tools' }, HOUR_MS, /no key with this id/],
    ['without an overlap', {}, 0, /overlap is not between/],
    ['with an overlap of more than 30 days', {}, 30 * 24 * HOUR_MS + 1, /overlap is not between/],
    ['with an overlap that is not a number', {}, Number.NaN, /overlap is not between/],
  ])('rejects a key %s', async (_, values, overlapMs, message) => {
    const org = await organization(db)
    const { id } = await exportKey(db, org, values)
    await expectRejected(rotate(org, id, overlapMs), message)
    expect(await countKeys(org)).toBe(1)
  })

  test('again names the last successor, or says why there is no way out', async () => {
    const { org, keyId } = await tenant(db)
    const second = await rotate(org, keyId)
    await revokeKey(keysDb, actor(org), keyId, NOW)
    const third = await rotate(org, second.id)
    for (const { id } of [{ id: keyId }, second])
      await expectRejected(rotate(org, id), new RegExp(`Rotate its successor, ${third.id}`))
    await revokeKey(keysDb, actor(org), third.id, NOW)
    await expectRejected(rotate(org, keyId), new RegExp(`successor, ${third.id}, is revoked. Create a new`))
  })

  test.each([
    ['infinity', null],
    ['9999-12-31T23:59:59Z', new Date('9999-12-31T23:59:59.999Z')],
  ])('a key that expires at %s has a successor like it', async (expires_at, expiresAt) => {
    const org = await organization(db)
    const { id } = await exportKey(db, org, { expires_at, created_at: PAST })
    expect(await rotate(org, id, HOUR_MS, later(HOUR_MS))).toMatchObject({ expiresAt })
  })

  test('rejects a successor while the key that it replaces is active', async () => {
    const { org, keyId } = await tenant(db)
    const { id } = await rotate(org, keyId)
    await expectRejected(rotate(org, id), new RegExp(`still active.*${keyId}`))
    await revokeKey(keysDb, actor(org), keyId, NOW)
    expect(await rotate(org, id)).toMatchObject({ replaces: id })
  })
})

test('keys can be rotated and revoked again after a restore of the tables of the application alone', async () => {
  const org = await organization(db)
  const [rotated, revoked] = [await create(org), await create(org)]
  const lost = await rotate(org, rotated.id)
  await revokeKey(keysDb, actor(org), revoked.id, NOW)
  await db.query('delete from api_keys where id = $1', [lost.id])
  await db.query('update api_keys set expires_at = null, revoked_at = null where organization_id = $1', [
    org.id,
  ])
  expect(await rotate(org, rotated.id)).toMatchObject({ replaces: rotated.id })
  expect(await revokeKey(keysDb, actor(org), revoked.id, NOW)).toMatchObject({ state: 'revoked' })
  expect(await listKeys(keysDb, actor(org), NOW)).toHaveLength(3)
  const events = (await readKeyLog(keysDb, actor(org))).map(({ event }) => event)
  expect(events.sort()).toEqual([
    ...Array.from({ length: 4 }, () => 'created'),
    ...['revoked', 'revoked', 'rotated', 'rotated'],
  ])
})

describe('the log', () => {
  const at = expect.any(Date)

  test('has who created, rotated and revoked keys, newest first, also after the keys are deleted', async () => {
    const org = await organization(db)
    const admin = await colleague(org, 'admin')
    const { id } = await create(org)
    const made = await rotate(admin, id)
    for (const time of [2, 3]) await revokeKey(keysDb, actor(org), id, later(time))
    await db.query('delete from api_keys where organization_id = $1', [org.id])
    expect(await readKeyLog(keysDb, actor(org))).toEqual([
      { at, event: 'revoked', keyId: id, userId: org.owner, successorId: null },
      { at, event: 'rotated', keyId: id, userId: admin.owner, successorId: made.id },
      { at, event: 'created', keyId: made.id, userId: admin.owner, successorId: null },
      { at, event: 'created', keyId: id, userId: org.owner, successorId: null },
    ])
  })

  test('has what statements do, without a user, and not for keys of another scope', async () => {
    const org = await organization(db)
    const [exported] = [await exportKey(db, org), await exportKey(db, org, { scope: 'tools' })]
    for (const change of ['revoked_at = now()', 'expires_at = now()', 'revoked_at = null'])
      await db.query(`update api_keys set ${change} where organization_id = $1`, [org.id])
    const event = { at, keyId: exported.id, userId: null, successorId: null }
    expect(await readKeyLog(keysDb, actor(org))).toEqual([
      { ...event, event: 'revoked' },
      { ...event, event: 'created' },
    ])
  })

  test('accepts no successor of another organization', async () => {
    const [{ keyId }, { keyId: foreign }] = [await tenant(db), await tenant(db)]
    const rotation = keysDb.transaction(async (tx) => {
      await tx.execute(sql`select set_config('export_api.successor', ${foreign}, true)`)
      await tx.execute(sql`update export_source.api_keys set expires_at = now() where id = ${keyId}`)
    })
    await expect(rotation).rejects.toMatchObject({ cause: { constraint: 'key_log_successor' } })
  })
})
