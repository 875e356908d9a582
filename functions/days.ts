import * as z from 'zod/mini'
import { days } from '../lib/days/days.ts'
import { day, digest, pathSegment, preciseInstant, preciseInstants, uuid } from '../lib/rows/schema.ts'
import { metrics } from './metrics/all.ts'

/** A number of rows of a day, which does not add up: parts of one day repeat it. */
const rowsOfDay = (description: string) => z.int32().check(z.gte(0), z.meta({ description }))

export const Day = z.object({
  endpoint: pathSegment('Endpoint of the rows: the last segment of its path.'),
  brand_id: uuid('Brand of the rows.'),
  date: day('UTC day of the rows.'),
  changed_at: preciseInstant('Time at which the rows last changed, as in `/changes`.'),
  causes: preciseInstants(
    'Why the rows changed since you received the day, as in `/changes`. Empty for a day that is new to you.',
  ),
  digest: digest('Proves all rows of the day, as in `/changes`.'),
  row_count: rowsOfDay('Number of all rows of the day. 0 when it has emptied.'),
  offset: rowsOfDay(
    'Number of its rows that earlier pages had. More than 0 only for a further part of a very large day.',
  ),
})

export default days({
  path: '/days',
  summary: 'Days',
  description: `Returns whole days of all metrics and brands: those that changed since the \`cursor\` that you received last, and all
days without one. A copy is an upsert: for each day with \`offset\` 0, delete your rows of its \`endpoint\`, \`brand_id\` and \`date\`,
then insert \`rows\`. Store \`nextCursor\` in the same transaction, and read on while \`hasMore\`.`,
  row: Day,
  primaryKey: ['endpoint', 'brand_id', 'date'],
  metrics: Object.values(metrics),
})
