import { CitationShareRow } from '../../../functions/citation-share.ts'
import { columnsOf, rowWriter } from '../../../lib/row.ts'
import { ROWS, way } from '../way.ts'

const row = rowWriter(CitationShareRow)

/** Rows out of Postgres, written as JSON cell by cell in the Worker. */
export default way({
  statement: `select ${columnsOf(CitationShareRow).join(', ')} ${ROWS}`,
  // Postgres writes a boolean as t or f; here that is left out, in favour of this way.
  write: (rows) =>
    rows
      .map((cells) => row(cells.map((cell) => (cell === 't' ? 'true' : cell === 'f' ? 'false' : cell))))
      .join(),
})
