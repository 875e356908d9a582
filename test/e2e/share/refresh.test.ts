import { beforeAll, describe, expect, test } from 'vitest'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { brand, prompt, refresh } from '../../fixtures/rows.ts'
import { answeredDays, type Scene } from '../../fixtures/scene.ts'
import { objectsOf, rowsOf, type ShareAnswer, startShare, tablePath } from '../../fixtures/share.ts'

const SECONDS = 60

const { db, publish, ask, query } = await startShare({ URL_SECONDS: String(SECONDS) })

let its: Scene

beforeAll(async () => {
  // The last day of a month and the first of the next, so that each is a file.
  its = await answeredDays(db, { first: '2026-08-31', days: 2 })
  await publish()
})

const idsOf = (answer: ShareAnswer) => objectsOf(answer).map(({ id }) => id)

/** Queries as a client that renews URLs does. */
const queryToRefresh = async (body = {}, key = its.key) => {
  const answer = await query(key, 'visibility', { includeRefreshToken: true, ...body })
  const end = answer.lines.at(-1)?.endStreamAction
  return { answer, end, refreshToken: end?.refreshToken }
}

/** Changes the first day, so that another file has its rows, and publishes it. */
async function change(): Promise<void> {
  await its.say('2026-08-31T12:00:00Z', { mentions: ['Acme'] })
  await refresh(db)
  await publish()
}

test('URLs work as long as the setting says, and the end of the response names the first that expires', async () => {
  const before = Date.now()
  const { answer, end } = await queryToRefresh()
  const after = Date.now()
  const expirations = objectsOf(answer).map(({ expirationTimestamp }) => expirationTimestamp)
  const [expiration = 0] = expirations
  expect(expirations).toEqual([expiration, expiration])
  expect(expiration).toBeGreaterThan(before + (SECONDS - 1) * 1000)
  expect(expiration).toBeLessThanOrEqual(after + SECONDS * 1000)
  expect(end).toEqual({ refreshToken: expect.any(String), minUrlExpirationTimestamp: expiration })
  const [file] = objectsOf(answer)
  const response = await fetch(file?.url ?? '', { method: 'HEAD' })
  expect(response.headers.get('Cache-Control')).toBe(`private, max-age=${SECONDS}, immutable`)
})

test('a refresh after a commit names the files of the first query with URLs that work', async () => {
  const first = await queryToRefresh()
  const rows = await rowsOf(first.answer)
  await change()

  const refreshed = await queryToRefresh({ refreshToken: first.refreshToken })
  expect(refreshed.refreshToken).toBe(first.refreshToken)
  expect(refreshed.answer.lines[1], 'as of a query without a version').toEqual(first.answer.lines[1])
  for (const file of objectsOf(refreshed.answer)) expect(file).not.toHaveProperty('version')
  expect(idsOf(refreshed.answer)).toEqual(idsOf(first.answer))
  expect(refreshed.answer.version).toBe(first.answer.version)
  expect(await rowsOf(refreshed.answer)).toEqual(rows)
  expect(idsOf((await queryToRefresh()).answer)).not.toEqual(idsOf(first.answer))
})

test('a query that asks for no token has no last line, whatever its capabilities say', async () => {
  const headers = {
    'delta-sharing-capabilities': 'responseformat=parquet;includeendstreamaction=true',
    fileidhash: 'PARQUET',
  }
  const body = '{"includeRefreshToken":false}'
  const call = { key: its.key, method: 'POST', body, headers }
  const answer = await ask(`${tablePath('visibility')}/query`, call)
  expect(answer.lines.flatMap(Object.keys)).toEqual(['protocol', 'metaData', 'file', 'file'])
  expect(answer.headers.get('delta-sharing-capabilities')).toBe('responseformat=parquet')
  expect(answer.headers.get('fileidhash')).toBe('parquet')
})

describe('a refresh after the access of the key has changed', () => {
  let other: Scene
  let second: string

  const setPlan = (plan: string) =>
    db.query('update subscriptions set plan = $1 where organization_id = $2', [plan, other.org.id])
  /** Sets whether the brands are active, except for the first so many. */
  const setActive = (active: boolean, except = 0) =>
    db.query('update brands set active = $1 where id = any ($2)', [
      active,
      [other.brandId, second].slice(except),
    ])
  const renew = async (refreshToken: unknown) => (await queryToRefresh({ refreshToken }, other.key)).answer

  beforeAll(async () => {
    await clearOfMidnight(60_000)
    // Pro reads the last three of these days.
    other = await answeredDays(db, { first: daysAgo(93), days: 6 })
    second = await brand(db, other.org)
    await other.say(`${daysAgo(90)}T12:00:00Z`, { prompt: await prompt(db, second) })
    await refresh(db)
    await publish()
  })

  test('names what it named when the plan has risen', async () => {
    await setPlan('pro')
    const first = await queryToRefresh({}, other.key)
    await setPlan('enterprise')
    expect(idsOf(await renew(first.refreshToken))).toEqual(idsOf(first.answer))
    expect(idsOf((await queryToRefresh({}, other.key)).answer)).not.toEqual(idsOf(first.answer))
  })

  test.each([1, 0])('adds no brand that has been switched on to a query of %i', async (brands) => {
    await setActive(false, brands)
    const first = await queryToRefresh({}, other.key)
    expect(new Set((await rowsOf(first.answer)).map((row) => row.brand_id)).size).toBe(brands)
    await setActive(true)
    const renewed = await renew(first.refreshToken)
    expect(idsOf(renewed)).toEqual(idsOf(first.answer))
    expect(renewed.lines[1]).toEqual(first.answer.lines[1])
  })

  test('leaves out days and brands that the key has lost', async () => {
    const first = await queryToRefresh({}, other.key)
    const rows = await rowsOf(first.answer)
    await setActive(false, 1)
    await setPlan('pro')
    const left = rows.filter(({ brand_id, date }) => brand_id !== second && String(date) >= daysAgo(90))
    expect(left).toHaveLength(3)
    expect(await rowsOf(await renew(first.refreshToken))).toEqual(left)
  })

  test('takes a token of this table only, unaltered', async () => {
    const { refreshToken } = await queryToRefresh({}, other.key)
    const statusOf = async (table: string, token: string) => {
      const body = JSON.stringify({ refreshToken: token })
      return (await ask(`${tablePath(table)}/query`, { key: other.key, method: 'POST', body })).status
    }
    const token = String(refreshToken)
    expect(await statusOf('VISIBILITY', token)).toBe(200)
    expect(await statusOf('sentiment', token)).toBe(400)
    const parts = token.split('.')
    for (const index of parts.keys()) {
      const altered = parts.map((part, at) =>
        at === index ? part.replace(/.$/, (end) => (end === '1' ? '2' : '1')) : part,
      )
      expect(await statusOf('visibility', altered.join('.')), String(index)).toBe(400)
    }
  })
})
