import { setImmediate as nextTurn } from 'node:timers/promises'
import { parquetReadObjects } from 'hyparquet'
import { AbortError } from 'p-retry'
import pg from 'pg'
import { expect, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { publish } from '../../lib/share/publish.ts'
import { snapshotStatement } from '../../lib/share/statements.ts'
import { windowByPlan } from '../../lib/statement/window.ts'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { DELETIONS_DUE, PERIODS_DUE, SHARE_CLEARANCE } from '../fixtures/publishing.ts'
import { seededRandom } from '../fixtures/random.ts'
import { CHANGES, id, uuid } from '../interleavings/changes.ts'
import { BEGINNING, CLEARANCE } from '../interleavings/histories.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_124)
const HISTORIES = tries(10)
const ROUNDS = 20

/** With the least, a set is read alone, each row as a part. */
const LIMITS = [
  { brands: 1, sets: 1, rows: 1, bytes: 1 },
  { brands: 2, sets: 3, rows: 5, bytes: 300 },
  { brands: 40, sets: 100, rows: 10_000, bytes: 100_000 },
]

/** What a publisher does. */
const MOMENTS = [
  ...['take_lease', 'due_brands', 'read_batch', 'read_part', 'put', 'commit_batch', 'commit_first'],
  ...['read_periods', 'read'],
  ...['expire', 'delete', 'release_lease'],
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

/** How often something has happened. */
type Seen = { kills: number; takeovers: number; periods: number }

type Publisher = { isAlive: boolean; isDone: boolean; readonly waiting: Operation[] }

/** A brand's rows of all tables, by the brand. */
type Truth = ReadonlyMap<string, Rows>

/** A key of the brands' organization, so that histories are read as clients read them. */
const READER = `
  insert into users (id, email) values (${id(8, 0)}, 'reader@mail.example') on conflict do nothing;
  insert into memberships (organization_id, user_id, role) values (${id(9, 0)}, ${id(8, 0)}, 'owner') on conflict do nothing;
  insert into subscriptions (organization_id, plan, status) values (${id(9, 0)}, 'pro', 'active') on conflict do nothing;
  insert into api_keys (id, organization_id, created_by, scope, label, key_hash, last_four)
    values (${id(8, 1)}, ${id(9, 0)}, ${id(8, 0)}, 'export', 'A key', decode(repeat('00', 32), 'hex'), 'aaaa')
    on conflict do nothing`

/** A file that a statement names. */
type NamedObject = { readonly id: string; readonly metric: string; readonly rows: number }

test(`${HISTORIES} histories of publishers that overlap, and are killed, under changes (HOSTILE_SEED=${SEED})`, {
  timeout: scaledTimeout(600_000),
}, async () => {
  const { url, drop } = await isolatedDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const seen = { kills: 0, takeovers: 0, periods: 0 }
    for (let seed = SEED; seed < SEED + HISTORIES; seed += 1) await play(client, seed, seen)
    for (const [what, times] of Object.entries(seen))
      expect(times, what).toBeGreaterThanOrEqual(3 * HISTORIES)
  } finally {
    await client.end()
    await drop()
  }
})

/**
 * Plays rounds of publishers, whose operations take turns at random, among changes and refreshes. A lease can end while its
 * holder works, and a killed publisher runs no further code; what it waited for happens, does not happen, or happens later.
 * Counts kills, leases that end so, and thirds and months that were read.
 */
async function play(client: pg.Client, seed: number, seen: Seen): Promise<void> {
  await client.query(`${CLEARANCE}; ${SHARE_CLEARANCE}; ${BEGINNING}; ${READER}`)
  await refreshAll(client)
  const random = seededRandom(seed)
  const history = `HOSTILE_SEED=${seed}`
  const bucket = new Map<string, Uint8Array<ArrayBuffer>>()
  /** The tables at each version: those of each brand as they were when it was read. */
  const truths = new Map<number, Rows>()
  const published = new Map<string, Rows>()
  const late: Operation['effect'][] = []
  const copy = { version: 0, rows: [] as Rows }
  let starts = 0
  let failing = true

  function start(): Publisher {
    starts += 1
    const publisher: Publisher = { isAlive: true, isDone: false, waiting: [] }
    const wait = (name: string, effect: () => Promise<unknown>) =>
      new Promise<unknown>((settle) => publisher.waiting.push({ name, effect, settle }))
    /** The rows of the brands that the publisher has read as a whole. */
    const complete = new Map<string, Rows>()
    const run = async (sql: string, params: readonly (string | null)[]) => {
      const name = /daily\.(\w+)/.exec(sql)?.[1] ?? ''
      const values = [...params]
      // Versions may go at once.
      if (name === 'expire' && random.chance(0.3)) values[1] = '0'
      return wait(name, async () => {
        const before = await commits()
        const { rows } = await client.query(sql, values)
        if (name === 'read_batch') {
          const truth = await tables(client)
          for (const { brand_id } of JSON.parse(rows[0].value).brands)
            complete.set(brand_id, truth.get(brand_id) ?? [])
        }
        // Thirds and months change no rows.
        if (name === 'commit_batch' && values[1] === 'false')
          for (const [brand, changed] of await commits())
            if (changed !== before.get(brand)) published.set(brand, complete.get(brand) ?? [])
        if (/commit/.test(name) && rows[0].value !== null)
          truths.set(Number(rows[0].value), sorted([...published.values()].flat()))
        return rows[0]
      }) as Promise<Record<string, string | null>>
    }
    publish({
      run,
      limits: random.pick(LIMITS),
      holder: `publisher ${starts}`,
      bucket: {
        put: (key, value) =>
          wait('put', async () => {
            if (failing && random.chance(0.1)) throw new AbortError('The bucket is away')
            return bucket.set(key, value.slice())
          }),
        read: (key) =>
          wait('read', async () => bucket.get(key) ?? null) as Promise<Uint8Array<ArrayBuffer> | null>,
        delete: (keys) =>
          wait('delete', async () => {
            for (const key of keys) bucket.delete(key)
          }),
      },
    })
      // Without its lease, it ends.
      .catch((error) => {
        if (!/Another publisher works|The lease has passed/.test(String(error))) throw error
      })
      .finally(() => {
        publisher.isDone = true
      })
    return publisher
  }

  /** The published brands, each with what tells that it was committed again. */
  async function commits(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await client.query<{ brand_id: string; xmin: string }>(
      'select brand_id, xmin::text from daily.published_brands',
    )
    return new Map(rows.map(({ brand_id, xmin }) => [brand_id, xmin]))
  }

  const endLease = () => client.query(`update daily.publisher set held_until = '-infinity'`)

  /** Lets publishers take turns until all have ended. The first is killed at a moment that comes for the nth time. */
  async function turn(publishers: Publisher[], changes: number, killAt: string, nth: number): Promise<void> {
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
        seen.kills += 1
        for (const { effect } of [operation, ...publisher.waiting]) {
          const fate = random.pick(['happens', 'happens later', 'does not happen'])
          if (fate === 'happens') await effect().catch(() => {})
          if (fate === 'happens later') late.push(effect)
        }
      } else {
        const result = operation.effect()
        operation.settle(result)
        await result.catch(() => {})
      }
      if (step < changes && random.chance(0.02)) {
        await endLease()
        publishers.push(start())
        seen.takeovers += 1
      }
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
    const { rows } = await client.query<{ id: string; brand_id: string }>(
      'select id, brand_id from daily.objects where added is not null order by id',
    )
    if (rows.length === 0) return
    const { id, brand_id } = random.pick(rows)
    bucket.delete(`${id}.parquet`)
    await client.query('select daily.restart_share($1, $2)', [[brand_id], [id]])
  }

  /** Two readers: one of any version, and one that follows the changes of days. */
  async function check(): Promise<void> {
    const { rows } = await client.query<{ version: number }>(
      'select version from daily.versions order by version',
    )
    const versions = rows.map(({ version }) => version)
    const [oldest] = versions
    if (oldest === undefined) return
    const any = random.pick(versions)
    const clamp = `2026-${random.pick(['08-31', '09-19', '09-20', '09-21', '09-22', '09-23', '09-24', '09-26'])}`
    expect(await readSnapshot(any, clamp), `${history}, version ${any} of ${versions} from ${clamp}`).toEqual(
      await readable(truths.get(any) ?? [], clamp),
    )
    if (copy.version < oldest - 1 || copy.version === 0) {
      copy.version = oldest
      copy.rows = truths.get(oldest) ?? []
    }
    for (const version of versions.filter((version) => version > copy.version)) {
      const rows = new Map<string, number>()
      const count = (row: string, by: number) => rows.set(row, (rows.get(row) ?? 0) + by)
      for (const row of copy.rows) count(row, 1)
      for (const row of await readFeed('removed', version)) count(row, -1)
      for (const row of await readFeed('added', version)) count(row, 1)
      copy.version = version
      copy.rows = [...rows].flatMap(([row, times]) => {
        expect(times, `${history}, feed of version ${version}: ${row}`).toBeGreaterThanOrEqual(0)
        return Array.from({ length: times }, () => row)
      })
      expect(sorted(copy.rows), `${history}, feed of version ${version}`).toEqual(truths.get(version))
    }
  }

  /** Reads a version as a client whose plan begins with a day. */
  async function readSnapshot(version: number, clamp: string): Promise<Rows> {
    const objects: NamedObject[] = []
    for (const { metric } of (await client.query('select metric from daily.shared_tables')).rows) {
      const values: Readonly<Record<string, string>> = {
        key_hash: '00'.repeat(32),
        now: new Date().toISOString(),
        window_by_plan: windowByPlan(() => ({ first: clamp, last: '9999-12-31' })),
        ...{ metric, version: String(version), timestamp: '', brand_ids: '', days: '' },
      }
      const { sql, parameters } = snapshotStatement
      const { rows } = await client.query(
        sql,
        parameters.map((name) => values[name]),
      )
      expect(rows[0]?.version).toBe(String(version))
      for (const [id, , rows_, , first, last] of JSON.parse(rows[0].objects ?? '[]')) {
        objects.push({ id, metric, rows: rows_ })
        if (first !== last) seen.periods += 1
      }
    }
    return read(objects, version)
  }

  /** The rows that such a client reads of others. */
  async function readable(rows: Rows, clamp: string): Promise<Rows> {
    const { rows: brands } = await client.query<{ id: string }>(
      'select id from export_source.brands where active and organization_id = $1',
      [uuid(9, 0)],
    )
    const ids = new Set(brands.map((brand) => brand.id))
    return rows.filter((row) => {
      const { brand_id, date = clamp } = JSON.parse(row.slice(row.indexOf(' ')))
      return ids.has(brand_id) && date >= clamp
    })
  }

  const readFeed = async (action: 'added' | 'removed', version: number): Promise<Rows> =>
    read(
      (
        await client.query<NamedObject>(
          `select id, metric, rows from daily.objects where ${action} = $1 and period in ('day', 'brand')`,
          [version],
        )
      ).rows,
      version,
    )

  /** Reads the rows of objects. */
  async function read(named: readonly NamedObject[], version: number): Promise<Rows> {
    const found = await Promise.all(
      named.map(async ({ id, metric, rows }) => {
        const bytes = bucket.get(`${id}.parquet`)
        if (bytes === undefined)
          throw new Error(`${history}: version ${version} names the missing object ${id}`)
        const found = await parquetReadObjects({ file: bytes.buffer })
        expect(found.length, `${history}, rows of ${id}`).toBe(rows)
        return found.map((row) => textOf(metric, row))
      }),
    )
    return sorted(found.flat())
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    for (let n = random.below(4); n > 0; n -= 1) await change()
    if (random.chance(0.3)) await client.query(PERIODS_DUE)
    // A day after it was killed, nothing of a publisher is on its way.
    if (late.length === 0 && random.chance(0.3)) await client.query(DELETIONS_DUE)
    await endLease()
    const publishers = random.chance(0.5) ? [start()] : [start(), start()]
    await turn(publishers, random.below(100), random.pick(MOMENTS), 1 + random.below(3))
    await check()
  }
  failing = false
  for (const effect of late.splice(0)) await effect().catch(() => {})
  await client.query(DELETIONS_DUE)
  await endLease()
  await change()
  await turn([start()], 0, '', 1)
  await check()
  const named = async (condition: string) =>
    (
      await client.query(`select id || '.parquet' as name from daily.objects where ${condition} order by 1`)
    ).rows.map(({ name }) => name)
  const dropped = new Set(await named('dropped_at is not null'))
  expect([...bucket.keys()].filter((name) => !dropped.has(name)).sort(), history).toEqual(
    await named('added is not null'),
  )
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
  const select = ({ metric, relation, brand, columns }: (typeof shared)[number]) => {
    const fields = columns.map(({ name }) => (name === 'brand_id' ? `${brand} as brand_id` : `"${name}"`))
    return `select '${metric}' as metric, brand_id as brand, row_to_json(shown) as row
            from (select ${fields} from ${relation}) as shown`
  }
  const { rows } = await client.query<{ metric: string; brand: string; row: Record<string, unknown> }>(
    shared.map(select).join(' union all '),
  )
  const truth = new Map<string, string[]>()
  for (const { metric, brand, row } of rows)
    truth.set(brand, [...(truth.get(brand) ?? []), textOf(metric, row)])
  return truth
}

const textOf = (metric: string, row: Record<string, unknown>): string =>
  `${metric} ${JSON.stringify(row, (_, value) => {
    if (typeof value === 'bigint') return Number(value)
    return typeof value === 'string' && value.endsWith('T00:00:00.000Z') ? value.slice(0, 10) : value
  })}`
