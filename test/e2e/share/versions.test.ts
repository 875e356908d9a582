import { beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import type { Row } from '../../fixtures/call.ts'
import { brand, exportKey, organization, prompt, refresh } from '../../fixtures/rows.ts'
import { answeredDays, type Scene } from '../../fixtures/scene.ts'
import {
  objectsOf,
  rowsOf,
  rowsOfFile,
  type ShareAnswer,
  startShare,
  tablePath,
} from '../../fixtures/share.ts'

const { db, publish, publishPeriods, ask, query, feed } = await startShare()

const TABLES = readStreams().flatMap(({ kind, name }) => (kind === 'changes' ? [] : name))

type Rows = Readonly<Record<string, readonly string[]>>
type Version = { readonly version: number; readonly committedAt: string; readonly rows: Rows }

const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort()

/** The versions in their order, each with the rows of every table when it was the latest, without those of a deleted brand. */
let versions: Version[] = []
let its: Scene
let doomed: string
let key: string

const read = async (body = {}): Promise<Rows> =>
  Object.fromEntries(
    await Promise.all(
      TABLES.map(async (table) => [table, sorted(await rowsOf(await query(key, table, body)))] as const),
    ),
  )

/** Publishes, and remembers what the new versions hold: a run can commit days, then months of the same rows. */
async function commit(run = publish): Promise<void> {
  await refresh(db)
  await run()
  const found = await db.query<{ version: number }>(
    'select version from daily.versions where version > $1 order by version',
    [versions.at(-1)?.version ?? 0],
  )
  if (found.rowCount === 0) throw new Error('No version')
  const rows = Object.fromEntries(
    Object.entries(await read()).map(([table, texts]) => [
      table,
      texts.filter((row) => !row.includes(doomed)),
    ]),
  )
  versions.push(...found.rows.map(({ version }) => ({ version, committedAt: '', rows })))
}

const at = (index: number): Version => {
  const version = versions.at(index)
  if (version === undefined) throw new Error(`No version ${index}`)
  return version
}

/** Applies a feed to rows: removes the rows of each removed file and adds those of each added one. */
async function apply(rows: readonly string[], { lines }: ShareAnswer): Promise<string[]> {
  const copy = [...rows]
  for (const { add, remove } of lines) {
    for (const row of remove === undefined ? [] : sorted(await rowsOfFile(remove))) {
      const index = copy.indexOf(row)
      if (index < 0) throw new Error(`The copy has no ${row}`)
      copy.splice(index, 1)
    }
    if (add !== undefined) copy.push(...sorted(await rowsOfFile(add)))
  }
  return copy.sort()
}

beforeAll(async () => {
  // Of a month that is over, so that it is written as one set.
  its = await answeredDays(db, { first: '2026-01-10', days: 3 })
  doomed = await brand(db, its.org, { name: 'Doomed' })
  key = its.key
  const phrases = [{ polarity: 'neutral', confidence: '1' }]
  await its.say('2026-11-03T10:00:00Z', { prompt: await prompt(db, doomed), phrases })
  await commit()

  const late = await its.say('2026-01-11T10:00:00Z', {
    mentions: ['Acme'],
    citations: [{ url: 'https://late.example/' }],
    phrases: [{ polarity: 'negative', confidence: '0.25' }],
  })
  await commit()
  await commit(publishPeriods)
  await db.query('delete from answers where id = $1', [late])
  await db.query(`update brands set name = 'Renamed' where id = $1`, [its.brandId])
  await commit()
  await db.query(`delete from answers where answered_at >= '2026-01-12' and prompt_id = $1`, [its.prompt])
  await commit()
  await db.query('delete from brands where id = $1', [doomed])
  await commit()
  // As PostgreSQL's clock has it: no answer shows more than milliseconds.
  await db.query(
    `update daily.versions set committed_at = date_trunc('milliseconds', committed_at) + interval '0.4 ms'`,
  )
  const times = await db.query<{ at: string }>(
    `select to_char(committed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from daily.versions order by version`,
  )
  versions = versions.map((version, index) => ({ ...version, committedAt: times.rows[index]?.at ?? '' }))
})

const post = (table: string, body: object) =>
  ask(`${tablePath(table)}/query`, { key, method: 'POST', body: JSON.stringify(body) })

describe('a snapshot', () => {
  test('of a version, at the time of its commit and until the next one is the same', async () => {
    expect(versions.length).toBe(9)
    for (const [index, { version, committedAt, rows }] of versions.entries()) {
      expect(await read({ version }), `version ${index}`).toEqual(rows)
      const atTime = await query(key, 'sentiment', { timestamp: committedAt })
      expect([atTime.version, sorted(await rowsOf(atTime))]).toEqual([version, rows.sentiment])
      const earlier = new Date(Date.parse(committedAt) - 1).toISOString()
      if (index > 0)
        expect((await query(key, 'brands', { timestamp: earlier })).version).toBe(at(index - 1).version)
    }
  })

  test('has its version and time in each line when it was asked for, and no time otherwise', async () => {
    const { version, committedAt } = at(1)
    const commit = { version, timestamp: Date.parse(committedAt) }
    for (const body of [{ version }, { timestamp: committedAt }]) {
      const answer = await query(key, 'sentiment', body)
      expect(objectsOf(answer).length).toBeGreaterThan(0)
      for (const file of objectsOf(answer)) expect(file).toMatchObject(commit)
      expect(answer.lines[1]?.metaData?.version).toBe(version)
    }
    const latest = await query(key, 'sentiment')
    expect(JSON.stringify(latest.lines)).not.toMatch(/"(version|timestamp)":/)
  })

  test('of a later version is 400', async () => {
    const version = at(-1).version + 1
    const metadata = await ask(`${tablePath('brands')}/metadata?version=${version}`, { key })
    for (const { status, text } of [await post('brands', { version }), metadata])
      expect([status, text]).toEqual([400, expect.stringContaining('does not exist yet')])
  })
})

describe('a feed', () => {
  test.each(TABLES)('of %s takes a copy from each version to each later one', async (table) => {
    // A brand that is gone is in no feed: its rows go with the brand.
    for (const [index, { version, rows }] of versions.entries())
      for (const later of versions.slice(index + 1)) {
        const search = `startingVersion=${version + 1}&endingVersion=${later.version}`
        expect(await apply(rows[table] ?? [], await feed(key, table, search))).toEqual(later.rows[table])
      }
  })

  test('from the oldest version on begins with its files, and each action has its version and time', async () => {
    const changes = await feed(key, 'sentiment', `startingVersion=${at(0).version}`)
    expect(changes.version).toBe(at(0).version)
    expect(await apply([], changes)).toEqual(at(-1).rows.sentiment)
    for (const { add, remove } of changes.lines.slice(2)) {
      const action = add ?? remove
      const { committedAt } = versions.find(({ version }) => version === action?.version) ?? at(0)
      expect(new Date(action?.timestamp ?? 0).toISOString()).toBe(committedAt)
    }
  })

  test('by times is the feed of the versions at them', async () => {
    const [start, end] = [at(1), at(3)]
    const read = async (search: string) => {
      const { version, lines } = await feed(key, 'sentiment', search)
      return { version, ids: lines.slice(2).map(({ add, remove }) => [add?.id, remove?.id]) }
    }
    const byTimes = await read(`startingTimestamp=${start.committedAt}&endingTimestamp=${end.committedAt}`)
    expect(byTimes).toEqual(await read(`startingVersion=${start.version}&endingVersion=${end.version}`))
    expect(byTimes.ids.length).toBeGreaterThan(0)
  })

  test('from the next version on is empty, and from a later one 400', async () => {
    const next = at(-1).version + 1
    const path = `${tablePath('sentiment')}/changes?startingVersion=`
    for (const [search, status, lines] of [
      [`${next}`, 200, 2],
      [`${next}&endingVersion=${next}`, 200, 2],
      [`${next + 1}`, 400, 0],
      [`${at(2).version}&endingVersion=${at(1).version}`, 400, 0],
      [`${at(2).version}&endingTimestamp=2020-01-01T00:00:00Z`, 400, 0],
    ] as const) {
      const answer = await ask(path + search, { key })
      expect([search, answer.status, answer.lines.length]).toEqual([search, status, lines])
    }
  })

  test('has nothing of brands that the key does not read, nor of days before the clamp', async () => {
    const other = await exportKey(db, await organization(db))
    const none = await exportKey(db, its.org, { brand_ids: [] })
    for (const { key: without } of [other, none])
      for (const table of ['brands', 'sentiment'])
        expect((await feed(without, table, `startingVersion=${at(0).version}`)).lines).toHaveLength(2)
    await db.query(`update subscriptions set plan = 'agency' where organization_id = $1`, [its.org.id])
    expect((await feed(key, 'sentiment', `startingVersion=${at(0).version}`)).lines).toHaveLength(2)
    await db.query(`update subscriptions set plan = 'enterprise' where organization_id = $1`, [its.org.id])
  })
})

test('the version of a table is the latest, or the first at a time or later', async () => {
  const versionAt = (startingTimestamp: string) =>
    ask(`${tablePath('visibility')}/version?startingTimestamp=${startingTimestamp}`, { key })
  const latest = await ask(`${tablePath('visibility')}/version`, { key, method: 'HEAD' })
  expect([latest.version, latest.text]).toEqual([at(-1).version, ''])
  for (const { committedAt, version } of versions)
    expect((await versionAt(committedAt)).version).toBe(version)
  expect((await versionAt(new Date(Date.parse(at(0).committedAt) + 1).toISOString())).version).toBe(
    at(1).version,
  )
  expect((await versionAt('2999-01-01T00:00:00Z')).status).toBe(400)
  const since = `${tablePath('visibility')}?startingTimestamp=${at(1).committedAt}`
  expect((await ask(since, { key, method: 'HEAD' })).version).toBe(at(1).version)
})

test('beyond 30 days is 400, which names the oldest version and the time from which on to read', async () => {
  const [removed, kept] = [at(0), at(2)]
  const early = await query(key, 'sentiment', { version: removed.version, includeRefreshToken: true })
  await db.query(
    `update daily.versions set committed_at = committed_at - interval '31 days' where version <= $1`,
    [kept.version],
  )
  await its.say('2026-11-05T10:00:00Z')
  await commit()
  const oldest = await db.query<{ at: string }>(
    `select to_char(committed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from daily.versions where version = $1`,
    [kept.version],
  )
  const time = oldest.rows[0]?.at ?? ''
  const earlier = new Date(Date.parse(time) - 1).toISOString()
  const message = `The oldest version is ${kept.version}, committed at ${time}. Start there or later.`
  const table = tablePath('sentiment')
  for (const answer of [
    await post('sentiment', { version: removed.version }),
    await post('sentiment', { timestamp: earlier }),
    await post('sentiment', { refreshToken: early.lines.at(-1)?.endStreamAction?.refreshToken }),
    await ask(`${table}/changes?startingVersion=${removed.version}`, { key }),
    await ask(`${table}/changes?startingTimestamp=${earlier}`, { key }),
    await ask(`${table}/version?startingTimestamp=${earlier}`, { key }),
    await ask(`${table}/metadata?version=${removed.version}`, { key }),
  ])
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { errorCode: 'INVALID_PARAMETER_VALUE', message },
    ])

  const { rows } = kept
  expect(sorted(await rowsOf(await query(key, 'sentiment', { version: kept.version })))).toEqual(
    rows.sentiment,
  )
  expect((await query(key, 'sentiment', { timestamp: time })).version).toBe(kept.version)
  expect((await ask(`${table}/version?startingTimestamp=${time}`, { key })).version).toBe(kept.version)
  for (const start of [`startingVersion=${kept.version}`, `startingTimestamp=${time}`])
    for (const { add, remove } of (await feed(key, 'sentiment', start)).lines) {
      const file = add ?? remove
      if (file !== undefined) await rowsOfFile(file)
    }
})
