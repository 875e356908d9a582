import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import type { Emulator } from '../../emulator/emulator.ts'
import { call } from '../fixtures/call.ts'
import { type OwnDatabase, withClient } from '../fixtures/database.ts'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { seededRandom } from '../fixtures/random.ts'
import { insert, place, prompt, refresh } from '../fixtures/rows.ts'
import { addDays } from '../fixtures/scene.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'
import { uuid } from '../interleavings/changes.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_126)
const FIRST = '2026-10-01'
const MARKETS = 40
/** More than a page has. */
const BEFORE = 1050
const COMMITS = tries(200)

/** A row of `/visibility` that one answer makes: its day and market, in the order of pages. */
const rowKey = (n: number): string => `${addDays(FIRST, Math.floor(n / MARKETS))} ${uuid(5, n % MARKETS)}`

const LEVELS = ['read committed', 'repeatable read', 'serializable']

/** A row whose answer's commit was acknowledged before a time of the database, in microseconds. */
type Acknowledged = { readonly key: string; readonly at: number }

/** A page: the rows from a key on, through its last row or the end, and its X-Data-As-Of in microseconds. */
type Page = {
  readonly after: string
  readonly through: string
  readonly keys: ReadonlySet<string>
  readonly asOf: number
}

describe.runIf(inject('realPostgres'))('X-Data-As-Of (skipped without DATABASE_URL)', () => {
  let own: OwnDatabase
  let db: pg.Pool
  let service: Emulator
  let its: Tenant
  let write: (client: pg.ClientBase, keys: readonly string[]) => Promise<unknown>

  beforeAll(async () => {
    own = await isolatedDatabase()
    db = new pg.Pool({ connectionString: own.url })
    service = await startOwnService({ databaseUrl: own.url })
    its = await tenant(db)
    const [asked, { model }] = [await prompt(db, its.brandId), await place(db)]
    const markets = Array.from({ length: MARKETS }, (_, n) => ({ id: uuid(5, n), name: 'A market' }))
    await insert(db, 'markets', markets)
    write = (client, keys) =>
      client.query(
        `insert into answers (prompt_id, model_id, market_id, answered_at)
         select $1, $2, split_part(key, ' ', 2)::uuid, (split_part(key, ' ', 1) || 'T12:00:00Z')::timestamptz
         from unnest($3::text[]) as key`,
        [asked, model, keys],
      )
  })

  afterAll(async () => {
    await service.close()
    await db.end()
    await own.drop()
  })

  /** Commits an answer for each row, in its own transaction. */
  async function writeEach(keys: readonly string[], level: string, gid?: string): Promise<Acknowledged[]> {
    const { below } = seededRandom(SEED)
    return withClient(own.url, async (client) => {
      const acknowledged: Acknowledged[] = []
      for (const key of keys) {
        await client.query(`begin isolation level ${level}; select count(*) from models`)
        await sleep(below(20))
        await write(client, [key])
        await sleep(below(20))
        if (gid) await client.query(`prepare transaction '${gid}'`)
        await client.query(gid ? `commit prepared '${gid}'` : 'commit')
        const { rows } = await client.query('select extract(epoch from clock_timestamp()) * 1000000 as at')
        acknowledged.push({ key, at: Number(rows[0].at) })
      }
      return acknowledged
    })
  }

  /** Reads all pages of the window. */
  async function read(): Promise<Page[]> {
    const pages: Page[] = []
    let cursor: string | undefined
    do {
      const { status, headers, data, pagination } = await call('/visibility', {
        service: service.url,
        key: its.key,
        query: { brandId: its.brandId, fromDate: FIRST, toDate: '2027-01-01', cursor },
      })
      expect(status).toBe(200)
      const keys = data.map(({ date, market_id }) => `${date} ${market_id}`)
      cursor = pagination.nextCursor ?? undefined
      pages.push({
        after: pages.at(-1)?.through ?? '',
        through: cursor === undefined ? '9999' : (keys.at(-1) ?? ''),
        keys: new Set(keys),
        asOf: Date.parse(headers.get('X-Data-As-Of') ?? '') * 1000,
      })
    } while (cursor !== undefined)
    return pages
  }

  test(`every commit that was acknowledged before it is in the page, and it never goes back (HOSTILE_SEED=${SEED})`, {
    timeout: scaledTimeout(60_000),
  }, async () => {
    const { below } = seededRandom(SEED)
    const keys = Array.from({ length: BEFORE + COMMITS }, (_, n) => ({
      key: rowKey(n),
      place: below(2 ** 30),
    }))
      .sort((one, other) => one.place - other.place)
      .map(({ key }) => key)
    const client = await db.connect()
    await write(client, keys.slice(0, BEFORE)).finally(() => client.release())
    await refresh(db)

    const { rows } = await db.query(
      `select current_setting('max_prepared_transactions')::int > 0 as two_phase`,
    )
    // A fourth writer commits in two phases. The names of its transactions are the whole server's.
    const gid = rows[0].two_phase ? `as-of ${its.brandId}` : undefined
    const plans: readonly { level: string; gid?: string }[] = [
      ...LEVELS.map((level) => ({ level })),
      { level: 'repeatable read', ...(gid && { gid }) },
    ]
    const written = keys.slice(BEFORE)
    let writing = true
    const writers = Promise.all(
      plans.map(({ level, gid }, number) =>
        writeEach(
          written.filter((_, n) => n % plans.length === number),
          level,
          gid,
        ),
      ),
    ).finally(() => {
      writing = false
    })
    const lanes = withClient(own.url, (one) =>
      withClient(own.url, async (other) => {
        while (writing) await refreshAll([one, other])
        await refreshAll([one, other])
      }),
    )
    const pages: Page[] = []
    while (writing) pages.push(...(await read()))
    const acknowledged = (await writers).flat()
    await lanes
    const last = await read()

    expect(last.flatMap((page) => [...page.keys])).toEqual([...keys].sort())
    expect(Math.min(...last.map(({ asOf }) => asOf))).toBeGreaterThan(
      Math.max(...acknowledged.map(({ at }) => at)),
    )
    pages.push(...last)
    const times = pages.map(({ asOf }) => asOf)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    const promised = pages.flatMap(({ after, through, keys, asOf }) =>
      acknowledged
        .filter(({ key, at }) => at < asOf && key > after && key <= through)
        .map(({ key }) => ({ key, asOf, found: keys.has(key) })),
    )
    expect(promised.filter(({ found }) => !found)).toEqual([])
    expect(promised.length).toBeGreaterThanOrEqual(COMMITS)
  })
})
