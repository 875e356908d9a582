import { setImmediate as nextTurn } from 'node:timers/promises'
import { parquetReadObjects } from 'hyparquet'
import pg from 'pg'
import { expect, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { publish } from '../../lib/share/publish.ts'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { seededRandom } from '../fixtures/random.ts'
import { CHANGES } from '../interleavings/changes.ts'
import { BEGINNING, CLEARANCE } from '../interleavings/histories.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_124)
const HISTORIES = tries(10)
const ROUNDS = 20

/** With the least, a day of several rows is read in parts, each row into an object of its own. */
const LIMITS = [
  { sets: 3, bytes: 1, objectBytes: 100 },
  { sets: 100, bytes: 1, objectBytes: 100 },
  { sets: 100, bytes: 100_000, objectBytes: 100 },
]

/** What a publisher does. */
const MOMENTS = [
  ...['read_unpublished', 'read_part', 'stage', 'put', 'complete', 'commit_version', 'uncompacted'],
  ...['expired_files', 'delete', 'forget_files'],
]

const ADDITIONS = ['addAnswers', 'addCitation', 'addPrompt', 'bringBrandBack']

/** Rows of all tables, each as text and with its table's name, in order. */
type Rows = readonly string[]

/** A statement or a request to the bucket that a publisher waits for. */
type Operation = {
  readonly name: string
  readonly effect: () => Promise<unknown>
  readonly settle: (result: unknown) => void
}

type Publisher = { isAlive: boolean; isDone: boolean; readonly waiting: Operation[] }

/** A brand's rows of all tables, by the brand. */
type Truth = ReadonlyMap<string, Rows>

type File = { readonly id: string; readonly metric: string; readonly rows: number; readonly isMonth: boolean }

test(`${HISTORIES} histories of publishers that overlap, and are killed, under changes (HOSTILE_SEED=${SEED})`, {
  timeout: scaledTimeout(600_000),
}, async () => {
  const { url, drop } = await isolatedDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let kills = 0
    for (let seed = SEED; seed < SEED + HISTORIES; seed += 1) kills += await play(client, seed)
    expect(kills).toBeGreaterThanOrEqual(5 * HISTORIES)
  } finally {
    await client.end()
    await drop()
  }
})

/**
 * Plays rounds of one or two publishers, whose operations take turns at random, among changes and refreshes. A killed
 * publisher runs no further code; what it waited for happens, does not happen, or happens later. Returns the kills.
 */
async function play(client: pg.Client, seed: number): Promise<number> {
  await client.query(
    `${CLEARANCE}; truncate daily.files, daily.versions, daily.published_brands; ${BEGINNING}`,
  )
  await refreshAll(client)
  const random = seededRandom(seed)
  const history = `HOSTILE_SEED=${seed}`
  const bucket = new Map<string, Uint8Array<ArrayBuffer>>()
  /** The tables at each version: those of each brand as they were when it was read. */
  const truths = new Map<number, Rows>()
  const published = new Map<string, Rows>()
  const late: Operation['effect'][] = []
  const copy = { version: 0, rows: [] as Rows }
  let kills = 0

  function start(): Publisher {
    const publisher: Publisher = { isAlive: true, isDone: false, waiting: [] }
    const wait = (name: string, effect: () => Promise<unknown>) =>
      new Promise<unknown>((settle) => publisher.waiting.push({ name, effect, settle }))
    /** The brands that the publisher has read as a whole, with their cuts and rows. */
    const complete = new Map<string, { cut: string; rows: Rows }>()
    const run = async (sql: string, params: readonly (string | null)[]) => {
      const name = /daily\.(\w+)/.exec(sql)?.[1] ?? ''
      // Months are old enough at once, and a version may go when the next one is committed.
      const values = name === 'uncompacted' ? ['0'] : [...params]
      if (name === 'commit_version' && random.chance(0.3)) values[values.length - 1] = '0'
      return wait(name, async () => {
        const before = await cuts()
        const { rows } = await client.query(sql, values)
        if (name === 'read_unpublished') {
          const truth = await tables(client)
          for (const { brand_id, cut } of JSON.parse(rows[0].value).brands)
            complete.set(brand_id, { cut, rows: truth.get(brand_id) ?? [] })
        }
        if (name === 'commit_version') {
          for (const [brand, xmin] of await cuts())
            if (xmin !== before.get(brand)) published.set(brand, complete.get(brand)?.rows ?? [])
          if (rows[0].value !== null)
            truths.set(Number(rows[0].value), sorted([...published.values()].flat()))
        }
        return rows[0]
      }) as Promise<Record<string, string | null>>
    }
    publish({
      run,
      limits: random.pick(LIMITS),
      compact: random.chance(0.5),
      bucket: {
        put: (key, value) => wait('put', async () => bucket.set(key, value.slice())),
        delete: (keys) =>
          wait('delete', async () => {
            for (const key of keys) bucket.delete(key)
          }),
      },
    }).finally(() => {
      publisher.isDone = true
    })
    return publisher
  }

  /** The brands of the current version, with what tells that one was committed. */
  async function cuts(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await client.query<{ brand_id: string; xmin: string }>(
      'select brand_id, xmin::text from daily.published_brands',
    )
    return new Map(rows.map(({ brand_id, xmin }) => [brand_id, xmin]))
  }

  /** Lets publishers take turns until all have ended. The first is killed at a moment that comes for the nth time. */
  async function turn(
    publishers: readonly Publisher[],
    changes: number,
    killAt: string,
    nth: number,
  ): Promise<void> {
    let times = 0
    for (let step = 0; ; step += 1) {
      await nextTurn()
      await nextTurn()
      const live = publishers.filter(({ isAlive, isDone }) => isAlive && !isDone)
      if (live.length === 0) return
      const publisher = random.pick(live)
      const [operation] = publisher.waiting.splice(random.below(publisher.waiting.length), 1)
      if (operation === undefined) continue
      if (publisher === publishers[0] && operation.name === killAt) times += 1
      if (publisher === publishers[0] && times === nth) {
        publisher.isAlive = false
        kills += 1
        for (const { effect } of [operation, ...publisher.waiting]) {
          const fate = random.pick(['happens', 'happens later', 'does not happen'])
          if (fate === 'happens') await effect()
          if (fate === 'happens later') late.push(effect)
        }
      } else operation.settle(await operation.effect())
      if (step < changes && random.chance(0.2)) await change()
      if (step < changes && random.chance(0.005)) await lose()
      if (late.length > 0 && random.chance(0.1))
        await late
          .shift()?.()
          .catch(() => {})
      if (random.chance(0.1)) await check()
    }
  }

  async function change(): Promise<void> {
    const kind = random.pick(random.chance(0.4) ? ADDITIONS : Object.keys(CHANGES))
    const [a, b, c, d] = Array.from({ length: 4 }, () => random.below(12))
    const statement = CHANGES[kind]?.(a ?? 0, b ?? 0, c ?? 0, d ?? 0)
    await client.query(statement ?? '').catch((error) => {
      if (!(error instanceof pg.DatabaseError)) throw error
    })
    await refreshAll(client)
  }

  /** Loses an object that a version names. */
  async function lose(): Promise<void> {
    const { rows } = await client.query<{ id: string }>(
      'select id from daily.files where added is not null order by id',
    )
    if (rows.length === 0) return
    const { id } = random.pick(rows)
    bucket.delete(`${id}.parquet`)
    await client.query('select daily.mark_lost($1)', [[id]])
  }

  /** Two readers: one of any version, and one that follows the changes of days. */
  async function check(): Promise<void> {
    const lost = await client.query(
      `select from daily.files
       where stamp = '' and (removed is null or removed >= (select min(version) from daily.versions))`,
    )
    if (lost.rowCount !== 0) return
    const { rows } = await client.query<{ version: number }>(
      'select version from daily.versions order by version',
    )
    const versions = rows.map(({ version }) => version)
    const [oldest] = versions
    if (oldest === undefined) return
    const any = random.pick(versions)
    expect(await snapshot(any), `${history}, version ${any} of ${versions}`).toEqual(truths.get(any))
    if (copy.version < oldest - 1 || copy.version === 0) {
      copy.version = oldest
      copy.rows = await snapshot(oldest)
    }
    for (const version of versions.filter((version) => version > copy.version)) {
      const rows = new Map<string, number>()
      const count = (row: string, by: number) => rows.set(row, (rows.get(row) ?? 0) + by)
      for (const row of copy.rows) count(row, 1)
      for (const row of await read('removed = $1 and first is not distinct from last', version))
        count(row, -1)
      for (const row of await read('added = $1 and first is not distinct from last', version)) count(row, 1)
      copy.version = version
      copy.rows = [...rows].flatMap(([row, times]) => {
        expect(times, `${history}, feed of version ${version}: ${row}`).toBeGreaterThanOrEqual(0)
        return Array.from({ length: times }, () => row)
      })
      expect(sorted(copy.rows), `${history}, feed of version ${version}`).toEqual(truths.get(version))
    }
  }

  const snapshot = (version: number): Promise<Rows> =>
    read(
      `added <= $1 and (removed is null or removed > $1) and (first is distinct from last or not exists (
         select from daily.files as month
         where month.metric = files.metric and month.brand_id = files.brand_id and month.first < month.last
           and files.first between month.first and month.last
           and month.added <= $1 and (month.removed is null or month.removed > $1)))`,
      version,
    )

  async function read(condition: string, version: number): Promise<Rows> {
    const { rows: files } = await client.query<File>(
      `select id, metric, rows from daily.files where added is not null and ${condition}`,
      [version],
    )
    const found = await Promise.all(
      files.map(async ({ id, metric, rows }) => {
        const bytes = bucket.get(`${id}.parquet`)
        if (bytes === undefined)
          throw new Error(`${history}: version ${version} names the missing object ${id}`)
        const objects = await parquetReadObjects({ file: bytes.buffer })
        expect(objects.length, `${history}, rows of ${id}`).toBe(rows)
        return objects.map((row) => textOf(metric, row))
      }),
    )
    return sorted(found.flat())
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    for (let n = random.below(4); n > 0; n -= 1) await change()
    const publishers = random.chance(0.5) ? [start()] : [start(), start()]
    await turn(publishers, random.below(100), random.pick(MOMENTS), 1 + random.below(3))
    await check()
  }
  for (const effect of late.splice(0)) await effect().catch(() => {})
  // What killed publishers left is swept a day later.
  await client.query(
    `update daily.files set staged_at = staged_at - interval '2 days' where added is null and staged_at > '-infinity'`,
  )
  await change()
  await turn([start()], 0, '', 1)
  await check()
  const { rows } = await client.query('select id from daily.files where bytes > 0 order by id')
  expect([...bucket.keys()].sort(), history).toEqual(rows.map(({ id }) => `${id}.parquet`))
  return kills
}

const sorted = (rows: Rows): Rows => [...rows].sort()

/** Returns the rows of all tables in one snapshot. */
async function tables(client: pg.Client): Promise<Truth> {
  const { rows: shared } = await client.query<{
    metric: string
    relation: string
    brand: string
    columns: { name: string }[]
  }>('select metric, relation::text, brand, columns from daily.shared_tables')
  const { rows } = await client.query<{ metric: string; brand: string; row: Record<string, unknown> }>(
    shared
      .map(
        ({ metric, relation, brand }) =>
          `select '${metric}' as metric, ${brand} as brand, to_jsonb(stored) || jsonb_build_object('brand_id', ${brand}) as row from ${relation} as stored`,
      )
      .join(' union all '),
  )
  const columns = new Map(shared.map(({ metric, columns }) => [metric, columns]))
  const truth = new Map<string, string[]>()
  for (const { metric, brand, row } of rows) {
    const fields = (columns.get(metric) ?? []).map(({ name }) => [name, row[name]])
    truth.set(brand, [...(truth.get(brand) ?? []), textOf(metric, Object.fromEntries(fields))])
  }
  return truth
}

const textOf = (metric: string, row: Record<string, unknown>): string =>
  `${metric} ${JSON.stringify(row, (_, value) => {
    if (typeof value === 'bigint') return Number(value)
    return typeof value === 'string' && value.endsWith('T00:00:00.000Z') ? value.slice(0, 10) : value
  })}`
