import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { rowBytes } from '../million.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { addBrands } from '../volume.ts'

const BRANDS = 40
const DAYS = 90

/** The bytes of a stored row of each metric. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client) => {
    const answers = sized(200_000)
    report(`${figure(answers)} answers of ${BRANDS} brands`)
    const { organizationId } = await addTenant(client)
    await addBrands(client, { organizationId, count: BRANDS, answers: answers / BRANDS, days: DAYS })
    await client.query('vacuum analyze')
    await refreshAll(client)
    const rows = []
    for (const metric of await metricsOf(client)) {
      const { rows: count, table, index } = await rowBytes(client, metric)
      const bytes = [table, index, table + index].map(Math.round)
      rows.push([metric, count, (count / answers).toPrecision(2), ...bytes])
    }
    return [
      {
        title: 'Bytes of a stored row',
        columns: ['metric', 'rows', 'rows per answer', 'table', 'index', 'together'],
        rows,
        note: `${BRANDS} brands with ${figure(answers)} answers over ${DAYS} days, after one refresh. URLs have about 70 bytes.`,
      },
    ]
  })
