import type pg from 'pg'
import type { Operation } from '../../lib/page/operation.ts'
import { fieldNames } from '../../lib/rows/schema.ts'
import type { Row } from '../fixtures/call.ts'

/** Reads a brand's stored rows of an endpoint by plain SQL: the fields that are sent, in date order. */
export async function storedRows(
  db: pg.Pool | pg.ClientBase,
  { name, row, brandId }: Pick<Operation, 'row'> & { name: string; brandId: string },
): Promise<Row[]> {
  const columns = fieldNames(row).map((column) => `"${column}"`)
  const { rows } = await db.query<{ row: Row }>(
    `select to_jsonb(sent) as row
     from (select ${columns} from daily."${name.replaceAll('-', '_')}" where brand_id = $1 order by date) as sent`,
    [brandId],
  )
  return rows.map(({ row }) => row)
}
