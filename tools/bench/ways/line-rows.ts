import { ROWS, way } from '../way.ts'

/** Stored lines, one a row, strung together in the Worker. */
export default way({ statement: `select line ${ROWS}`, write: (rows) => rows.join() })
