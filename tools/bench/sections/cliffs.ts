import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { BASE } from '../../../lib/app.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section, type Setting } from '../section.ts'
import { withService } from '../service.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { fill, fillCitations, LAST_DAY } from '../volume.ts'

/** What is read for what is returned, at two sizes of what was not asked for: it must not grow with them. */
export const section: Section = async (setting) => [
  {
    title: 'What is read for what is returned',
    columns: ['what', 'size', 'read', 'returned', 'read per returned'],
    rows: [
      ...(await citationsOfDay(setting)),
      ...(await pagesOfChanges(setting)),
      ...(await resolves(setting)),
    ],
    note: 'Blocks have 8 kB.',
  },
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

/** Resolves of new markets and of a truncate, over answers that they do not touch. */
async function resolves({ serverUrl, sized, report }: Setting): Promise<Row[]> {
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
        const start = performance.now()
        const blocks = await blocksOf(client, 'select daily.resolve()')
        report(`${markets} new markets: ${Math.round(performance.now() - start)} ms`)
        rows.push(
          rowOf(
            `a resolve of ${markets} new markets: blocks, and those of the answers`,
            `${figure(answers)} answers`,
            blocks,
            await blocksIn(client, 'answers'),
          ),
        )
      }
      await client.query('truncate recommendations')
      await client.query('select daily.resolve()')
    })
  return rows
}

async function blocksIn(client: ClientBase, table: string): Promise<number> {
  const { rows } = await client.query('select pg_relation_size($1::regclass) / 8192 as blocks', [table])
  return Number(rows[0].blocks)
}
