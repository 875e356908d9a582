import type { ClientBase } from 'pg'
import { withClient } from '../../../drizzle/db/connect.ts'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section, type Table } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'
import { addBrands } from '../volume.ts'

const BRANDS = 400
const DAYS = 30
const ROUNDS = 3

/** What two lanes gain over many brands. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, (client, url) =>
    withClient(url, async (second) => {
      report(`${BRANDS} brands of ${DAYS} days`)
      const { organizationId } = await addTenant(client)
      const volume = { answers: sized(1200), days: DAYS }
      await addBrands(client, { organizationId, count: BRANDS, ...volume })
      await client.query('vacuum analyze')
      report('one lane and two')
      return [await lanes(client, second)]
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
    ROUNDS,
  )
  return {
    title: `Recomputing ${figure(days)} days of ${BRANDS} brands`,
    columns: ['lanes', 'relative speed', 'days a second'],
    rows: [
      ['1', 1, Math.round((1000 * days) / ms('one'))],
      ['2', ms('one') / ms('two'), Math.round((1000 * days) / ms('two'))],
    ],
    note: `From empty tables, after the log was resolved. A day is one of one metric. Goal: 1.5 on two free cores. Medians of ${ROUNDS} alternating rounds.`,
  }
}
