import * as z from 'zod/mini'
import { dailyChanges } from '../drizzle/tables/refresh.ts'
import { sendFile } from '../lib/file/file.ts'
import { changesOfAllBrands } from '../lib/page/all-brands.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import {
  count,
  day,
  digest,
  numbers,
  pathSegment,
  preciseInstant,
  preciseInstants,
  uuid,
} from '../lib/rows/schema.ts'
import { EVERY_DAY } from '../lib/statement/window.ts'

export const ChangeRow = z.object({
  brand_id: uuid('Brand whose rows changed.'),
  endpoint: pathSegment('Endpoint whose rows changed: the last segment of its path.'),
  date: day('UTC day whose rows changed.'),
  rows: count('Rows that the endpoint serves for this day. 0 when the day has emptied.'),
  totals: numbers(
    "Sum over the day's rows of each field with `x-aggregation: sum` in the endpoint's schema. All 0 when the day has emptied.",
  ),
  digest: digest(
    "Proves the day's rows: the bitwise XOR of a number for each row, the first 15 hex digits of the MD5 of its text in UTF-8. The text is its fields in the order of the endpoint, joined by U+001F: text with \\ as \\\\ and U+001F as \\_, rates and weights with four decimals, null as \\N, all else as in JSON. 000000000000000 when the day has emptied.",
  ),
  causes: preciseInstants(
    "Why: for each kind of cause that ever changed the day's rows, the `changed_at` of its latest change. Kinds are `answers`, `mentions`, `citations`, `sentiment`, `recommendations`, `prompts`, `brands`, `competitors`, `models`, `markets`, `recomputed` and `relisted`. Pass unknown kinds through.",
  ),
  changed_at: preciseInstant(
    "Time at which the day's rows last changed, with microseconds. Can be ahead of your clock: store and compare it as text.",
  ),
})

export default paged({
  path: '/changes',
  summary: 'Changes',
  description: `Returns which days of a brand changed and why, for people and monitors: the latest change of each endpoint and day
that has, or once had, rows, in the order of \`changed_at\`. To keep a copy, read \`/days\`.`,
  row: ChangeRow,
  primaryKey: ['brand_id', 'endpoint', 'date'],
  rows: dailyChanges,
  key: ['changed_at', 'endpoint', 'date'],
  since: 'changed_at',
  window: EVERY_DAY,
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
  allBrands: changesOfAllBrands,
})
