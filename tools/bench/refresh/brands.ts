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
import { alternateTimes, type Timers, timed } from '../timing.ts'
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
      const volume = { answers: sized(1200), days: DAYS }
      const [brandId = ''] = await addBrands(client, { organizationId, count: BRANDS, ...volume })
      await client.query('vacuum analyze')
      const timer = firstPage(client, key)
      const pages = {
        'a page of `/citation-share`': await timer(citationShare, brandId),
        '`/changes`': await timer(changes, brandId),
        '`/healthz`': () => timed(() => client.query(HEALTH)),
      }
      report('one lane and two')
      const speed = await lanes(client, second)
      report(`${REFRESHES} refreshes next to a snapshot`)
      return [speed, await snapshot(client, second, pages)]
    }),
  )

async function lanes(client: ClientBase, second: ClientBase): Promise<Table> {
  const stored = [...(await metricsOf(client)), 'changes'].map((table) => `daily.${table}`)
  let days = 0
  const recompute = async (lanes: readonly ClientBase[]) => {
    await client.query(`truncate ${stored}`)
    await logAll(client)
    days = (await client.query('select daily.resolve() as days')).rows[0].days
    await client.query('checkpoint')
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

/** Compares pages after full refreshes without a snapshot and next to one, each relative to a statement without tables. */
async function snapshot(client: ClientBase, second: ClientBase, pages: Timers): Promise<Table> {
  const constant = () => timed(() => client.query('select count(*) from generate_series(1, 20000)'))
  const refreshes = async () => {
    for (let n = 0; n < REFRESHES; n += 1) {
      await logAll(client)
      await refreshAll(client)
    }
    await client.query('vacuum analyze')
    return alternateTimes({ ...pages, constant }, ROUNDS.pages)
  }
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
