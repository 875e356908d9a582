import { CitationShareRow } from '../../../functions/citation-share.ts'
import { columnsOf } from '../../../lib/row.ts'
import { ROWS, way } from '../way.ts'

/** Each row made into JSON by Postgres for each request. */
export default way({
  statement: `select row_to_json(page) from (select ${columnsOf(CitationShareRow).join(', ')} ${ROWS}) as page`,
  write: (rows) => rows.join(),
})
