import { CitationShareRow } from '../../../functions/citation-share.ts'
import { columnsOf } from '../../../lib/row.ts'
import { ROWS, way } from '../way.ts'

/** The whole page made into JSON by Postgres for each request. */
export default way({
  statement: `select json_agg(page) from (select ${columnsOf(CitationShareRow).join(', ')} ${ROWS}) as page`,
  write: ([row]) => row?.[0]?.slice(1, -1) ?? '',
})
