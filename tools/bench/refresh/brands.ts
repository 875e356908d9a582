import { sql } from 'drizzle-orm'
import type { ClientBase } from 'pg'
import { withClient } from '../../../drizzle/db/connect.ts'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import changes from '../../../functions/changes.ts'
import citationShare from '../../../functions/citation-share.ts'
import { AS_OF_ALL, instant } from '../../../lib/as-of.ts'
import { toQuery } from '../../../lib/prepared-statement.ts'
import { inDatabase } from '../database.ts'
import { firstPage } from '../first-page.ts'
import { figure, type Setting, type Table } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'
import { addBrands } from '../volume.ts'

const BRANDS = 400
const DAYS = 30
const ROUNDS = { lanes: 3, pages: 300 }
const REFRESHES = 6

const HEALTH = toQuery(sql`select ${instant(AS_OF_ALL)} as as_of`).sql

/** What two lanes gain over many brands, and what rows cost that a long snapshot keeps. */
export const brands = ({ serverUrl, sized, report }: Setting): Promise<Table[]> =>
  inDatabase(serverUrl, (client, url) =>
    withClient(url, async (second) => {
      report(`${BRANDS} brands of ${DAYS} days`)
      const { organizationId, key } = await addTenant(client)
      const volume = { answers: sized(1200), days: DAYS, citations: [2, 3] } as const
      const [brandId = ''] = await addBrands(client, { organizationId, count: BRANDS, ...volume })
      await client.query('vacuum analyze')
      const page = firstPage(client, key)
      const pages = {
        '/citation-share': await page(citationShare, brandId),
        '/changes': await page(changes, brandId),
        '/healthz': () => timed(() => client.query(HEALTH)),
      }
      report('one lane and two')
      const table = await lanes(client, second)
      report(`${REFRESHES} refreshes next to a snapshot`)
      return [table, await snapshot(client, second, pages)]
    }),
  )

async function lanes(client: ClientBase, second: ClientBase): Promise<Table> {
  const stored = [...(await metricsOf(client)), 'changes'].map((table) => `daily.${table}`)
  const waiting = 'select count(*)::int as days from daily.refresh_queue'
  let days = 0
  const recompute = async (lanes: readonly ClientBase[]) => {
    await client.query(`truncate ${stored}`)
    await logAll(client)
    await client.query('select daily.resolve(); checkpoint')
    const { rows } = await client.query<{ days: number }>(waiting)
    days = rows[0]?.days ?? 0
    return timed(() => refreshAll(lanes))
  }
  const ms = await alternateTimes(
    { one: () => recompute([client]), two: () => recompute([client, second]) },
    ROUNDS.lanes,
  )
  return {
    title: `Recomputing ${figure(days)} days of ${BRANDS} brands`,
    columns: ['lanes', 'relative speed', 'days a second'],
    rows: [
      ['1', 1, Math.round((1000 * days) / ms('one'))],
      ['2', ms('one') / ms('two'), Math.round((1000 * days) / ms('two'))],
    ],
    note: `From empty tables, after the log was resolved. A day is one of one metric. Goal: 1.5 on two free cores. Medians of ${ROUNDS.lanes} alternating rounds.`,
  }
}

type Pages = Readonly<Record<string, () => Promise<number>>>

/** Compares pages after full refreshes without a snapshot and next to one, each relative to a statement without tables. */
async function snapshot(client: ClientBase, second: ClientBase, pages: Pages): Promise<Table> {
  const constant = () => timed(() => client.query('select count(*) from generate_series(1, 20000)'))
  const refreshes = async () => {
    for (let n = 0; n < REFRESHES; n += 1) {
      await logAll(client)
      await refreshAll(client)
    }
    return alternateTimes({ ...pages, constant }, ROUNDS.pages)
  }
  await client.query('vacuum analyze')
  const without = await refreshes()
  await second.query('begin isolation level repeatable read; select from daily.progress')
  const next = await refreshes()
  await second.query('rollback')
  return {
    title: `After ${REFRESHES} refreshes of all days of ${BRANDS} brands next to a snapshot`,
    columns: ['', 'relative to no snapshot'],
    rows: Object.keys(pages).map((name) => [
      name,
      next(name) / next('constant') / (without(name) / without('constant')),
    ]),
    note: `Goal: at most 1.5 for the page. Medians of ${ROUNDS.pages} alternating rounds of the Workers' own statements.`,
  }
}
