import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { withClient } from '../../../drizzle/db/connect.ts'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { BASE } from '../../../lib/app.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section, type Setting, type Table } from '../section.ts'
import { withService } from '../service.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { median, timed } from '../timing.ts'
import { addBrands, fill, fillCitations, LAST_DAY } from '../volume.ts'

/** What is read for what is returned, at two sizes of what was not asked for: it must not grow with them. */
export const section: Section = async (setting) => [
  {
    title: 'What is read for what is returned',
    columns: ['what', 'size', 'read', 'returned', 'read per returned'],
    rows: [
      ...(await citationsOfDay(setting)),
      ...(await pagesOfChanges(setting)),
      ...(await truncates(setting)),
    ],
    note: 'Goals: at most 10 for citations, 12 for /changes, 1 for a truncate.',
  },
  await resolves(setting),
  await alterations(setting),
]

type Row = (string | number)[]

const rowOf = (what: string, size: string, read: number, returned: number): Row => [
  what,
  size,
  figure(read),
  figure(returned),
  read / returned,
]

/** Returns the blocks that a statement reads, from the cache or not. */
async function blocksOf(client: ClientBase, sql: string, params: readonly unknown[] = []): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${sql}`, [...params])
  const [{ Plan: plan }] = rows[0]['QUERY PLAN']
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** A day of citations and of citation share, of a brand with a short and a long history. */
async function citationsOfDay({ serverUrl, sized, report }: Setting): Promise<Row[]> {
  const rows: Row[] = []
  for (const days of [30, 360]) {
    report(`citations of a day, history of ${days} days`)
    await inDatabase(serverUrl, async (client) => {
      const { organizationId } = await addTenant(client)
      const brandId = await addBrand(client, organizationId)
      await fill(client, { brandId, answers: sized(days * 200), days, citations: [3, 5] })
      await client.query('vacuum analyze')
      await refreshAll(client)
      const blocks = (metric: string) =>
        blocksOf(client, `select * from daily.recompute($1, array[$2]::uuid[], array[$3]::date[])`, [
          metric,
          brandId,
          LAST_DAY,
        ])
      const [citations, share] = [await blocks('citations'), await blocks('citation_share')]
      rows.push(
        rowOf(
          'a day of citations: blocks, and those of citation_share',
          `a history of ${days} days`,
          citations,
          share,
        ),
      )
    })
  }
  return rows
}

const CHANGES_PER_BRAND = 100

/** A full page of the changes of all brands, whose changes follow one another or mix. */
async function pagesOfChanges({ serverUrl, sized, report }: Setting): Promise<Row[]> {
  const rows: Row[] = []
  for (const brands of [sized(500), sized(5000)])
    for (const [how, second] of [
      ['mixed', 'random() * 999'],
      ['brand after brand', 'place / 10'],
      ['in groups of 50 brands', 'place / 500'],
    ])
      await inDatabase(serverUrl, async (client, databaseUrl) => {
        report(`changes of ${brands} brands, ${how}`)
        const { organizationId, key } = await addTenant(client)
        await client.query(
          `insert into brands (organization_id, name, display_name, url, site_url)
           select $1, n, n, n, n from generate_series(1, $2::int) as n`,
          [organizationId, brands],
        )
        await client.query(
          `insert into daily.changes
           select id, 'citations', date '2026-01-01' + n, 0, '{}', '000000000000000',
             '2026-11-01T00:00:00.' || lpad((${second})::int::text, 6, '0') || 'Z'
           from (select id, row_number() over (order by random()) * 10 as place from brands where organization_id = $1) as brand
           cross join generate_series(1, ${CHANGES_PER_BRAND}) as n`,
          [organizationId],
        )
        await client.query('vacuum analyze')
        await withService({ databaseUrl }, async ({ emulator: { url }, state }) => {
          const response = await fetch(`${url}${BASE}/changes`, {
            headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
          })
          if (response.status !== 200) throw new Error(await response.text())
          await response.body?.cancel()
          const before = await changesRead(client)
          await client.query(state.sent.query, [...state.sent.params])
          const read = (await changesRead(client)) - before
          rows.push(rowOf(`a page of /changes: rows, ${how}`, `${figure(brands)} brands`, read, PAGE_SIZE))
        })
      })
  return rows
}

/** Returns how many entries of the indexes of daily.changes have been read. */
async function changesRead(client: ClientBase): Promise<number> {
  await client.query('select pg_stat_force_next_flush()')
  const { rows } = await client.query(
    `select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relid = 'daily.changes'::regclass`,
  )
  return rows[0].read
}

/** The days that a truncate adds to the queue, and those of the metric that reads the table. */
async function truncates({ serverUrl, sized, report }: Setting): Promise<Row[]> {
  const rows: Row[] = []
  for (const days of [30, 360]) {
    report(`truncate of ${days} days`)
    await inDatabase(serverUrl, async (client) => {
      const { organizationId } = await addTenant(client)
      await addBrands(client, { organizationId, count: sized(20), answers: days * 10, days })
      await refreshAll(client)
      const listed = await client.query(
        `select count(*)::int as days from daily.changes where endpoint = 'sentiment' and rows > 0`,
      )
      await client.query('truncate sentiment_phrases')
      const queued = await client.query('select daily.resolve() as days')
      rows.push(
        rowOf(
          'a truncate of sentiment_phrases: days in the queue, and those of sentiment',
          `${sized(20)} brands of ${days} days`,
          queued.rows[0].days,
          listed.rows[0].days,
        ),
      )
    })
  }
  return rows
}

/** Resolves of new markets over answers that they do not touch. */
async function resolves({ serverUrl, sized, report }: Setting): Promise<Table> {
  const rows: Row[] = []
  for (const answers of [sized(100_000), sized(1_000_000)])
    await inDatabase(serverUrl, async (client) => {
      report(`resolves next to ${figure(answers)} answers`)
      const { organizationId } = await addTenant(client)
      const brandId = await addBrand(client, organizationId)
      await fillCitations(client, { brandId, answers, days: 360, citations: [0, 1] })
      await client.query('vacuum analyze')
      await client.query('truncate daily.change_log')
      for (const markets of [1, 80]) {
        await client.query(
          `insert into markets (name) select 'New ' || n from generate_series(1, $1::int) as n`,
          [markets],
        )
        let blocks = 0
        const ms = await timed(async () => {
          blocks = await blocksOf(client, 'select daily.resolve()')
        })
        rows.push([
          figure(answers),
          figure(markets),
          blocks / (await blocksIn(client, 'answers')),
          Math.round(ms) / 1000,
        ])
      }
    })
  return {
    title: 'Resolving new markets',
    columns: ['answers', 'new markets', 'blocks read per block of answers', 'seconds'],
    rows,
    note: 'No answer has these markets. Goal: at most 3 seconds.',
  }
}

/** Milliseconds between two transactions of the application. */
const PAUSE_MS = 50

const REFRESHES = 15

const ALTERED = ['answers', 'citations', 'prompts', 'recommendations']

/** An application that alters two tables in a transaction, while the refresh computes. */
const alterations = ({ serverUrl, sized, report }: Setting): Promise<Table> =>
  inDatabase(serverUrl, (client, url) =>
    withClient(url, async (application) => {
      report('alterations next to the refresh')
      const { organizationId } = await addTenant(client)
      await addBrands(client, { organizationId, count: 20, answers: sized(1200), days: 30 })
      let refreshes = 0
      const computing = (async () => {
        while (refreshes < REFRESHES) {
          await logAll(client)
          // Days whose tables stay locked fail, and are computed later.
          await refreshAll(client).catch(() => undefined)
          refreshes += 1
        }
      })()
      const pairs = ALTERED.flatMap((first) =>
        ALTERED.filter((second) => second !== first).map((second) => [first, second]),
      )
      const waits: number[] = []
      while (refreshes < REFRESHES) {
        const alter = pairs[waits.length % pairs.length]?.map(
          (table) => `alter table ${table} add altered int`,
        )
        waits.push(
          await timed(() =>
            application
              .query(`begin; ${alter?.join('; ')}; rollback`)
              .catch(() => application.query('rollback')),
          ),
        )
        await setTimeout(PAUSE_MS)
      }
      await computing
      for (const session of [client, application]) await session.query('select pg_stat_force_next_flush()')
      const { rows } = await client.query(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      )
      return {
        title: 'Altering two tables next to the refresh',
        columns: ['transactions', 'refreshes', 'deadlocks', 'longest transaction, ms', 'median, ms'],
        rows: [
          [
            waits.length,
            refreshes,
            rows[0].deadlocks,
            Math.round(Math.max(...waits)),
            Math.round(median(waits)),
          ],
        ],
        note: 'Goal: no deadlock.',
      }
    }),
  )

async function blocksIn(client: ClientBase, table: string): Promise<number> {
  const { rows } = await client.query('select pg_relation_size($1::regclass) / 8192 as blocks', [table])
  return Number(rows[0].blocks)
}
