import type pg from 'pg'
import { fieldNames } from '../../lib/rows/schema.ts'
import { METRICS } from './compare-copy.ts'

type Row = Readonly<Record<string, unknown>>
type Day = { readonly endpoint: string; readonly brand_id: string; readonly date: string }

/** Days of a list: few, so that the changes of a few days have several. */
const PAGE_SIZE = 8

/** An empty copy of the stored rows, and what makes it equal them: by plain SQL, as a request takes 50 times as long. */
export function createCopy(client: pg.Client) {
  const tables = new Map<string, Map<string, Row>>()
  /** The last day that was listed. */
  let position = ['', '00000000-0000-0000-0000-000000000000', '', '-infinity']

  /** Replaces the days that changed since, until none is listed. Calls a function before each statement. */
  async function sync(beforeEach: () => Promise<unknown>): Promise<void> {
    for (;;) {
      await beforeEach()
      const { rows: listed } = await client.query(
        `select changed_at, brand_id, endpoint, date::text from daily.changes
         where (changed_at, brand_id, endpoint, date) > ($1, $2, $3, $4)
         order by changed_at, brand_id, endpoint, date limit ${PAGE_SIZE}`,
        position,
      )
      if (listed.length === 0) return
      for (const day of listed) {
        await beforeEach()
        await replace(day)
        position = [day.changed_at, day.brand_id, day.endpoint, day.date]
      }
    }
  }

  async function replace({ endpoint, brand_id, date }: Day): Promise<void> {
    const name = endpoint.replaceAll('-', '_')
    const { rows } = await client.query<{ row: Row }>(
      `select to_jsonb(sent) as row
       from (select ${columnsOf.get(endpoint)} from daily.${name} where (brand_id, date) = ($1, $2)) as sent`,
      [brand_id, date],
    )
    const table = tables.get(name) ?? new Map<string, Row>()
    for (const id of table.keys()) if (id.startsWith(`${brand_id} ${date} `)) table.delete(id)
    for (const [index, { row }] of rows.entries())
      table.set(`${brand_id} ${date} ${index}`, { brand_id, ...row })
    tables.set(name, table)
  }

  return { tables, sync }
}

const columnsOf = new Map(
  METRICS.map(({ name, row }) => [name, fieldNames(row).map((field) => `"${field}"`)]),
)
