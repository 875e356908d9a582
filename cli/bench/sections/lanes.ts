import type { ClientBase } from 'pg'
import { withClient } from '../../../drizzle/db/connect.ts'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { createDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternate, timed } from '../timing.ts'
import { addAnsweredBrands } from '../volume.ts'

const BRANDS = 400
const DAYS = 30
const ROUNDS = 3

/** What two lanes gain over many brands. */
export const section: Section = async ({ serverUrl, sized, report }) => {
  await using database = await createDatabase(serverUrl)
  const { client, url } = database
  report(`${BRANDS} brands of ${DAYS} days`)
  const { organizationId } = await addTenant(client)
  await addAnsweredBrands(client, { organizationId, count: BRANDS, answers: sized(1200), days: DAYS })
  await client.query('vacuum analyze')
  report('one lane and two')
  const stored = [...(await metricsOf(client)), 'changes'].map((table) => `daily.${table}`)
  let days = 0
  const recompute = async (lanes: readonly ClientBase[]) => {
    await client.query(`truncate ${stored}`)
    await logAll(client)
    days = (await client.query('select daily.resolve() as days')).rows[0].days
    await client.query('checkpoint')
    return timed(() => refreshAll(lanes))
  }
  const median = await withClient(url, (second) =>
    alternate({ one: () => recompute([client]), two: () => recompute([client, second]) }, ROUNDS),
  )
  const [one, two] = [median('one', (ms) => ms), median('two', (ms) => ms)]
  return [
    {
      title: `Recomputing ${figure(days)} days of ${BRANDS} brands`,
      columns: ['lanes', 'relative speed', 'days a second'],
      rows: [
        ['1', 1, Math.round((1000 * days) / one)],
        ['2', one / two, Math.round((1000 * days) / two)],
      ],
      note: `From empty tables, after the log was resolved. A day is one of one metric. Goal: 1.5 on two free cores. Medians of ${ROUNDS} alternating rounds.`,
    },
  ]
}
