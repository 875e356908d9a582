import { ROWS, way } from '../way.ts'

/** Stored lines, strung together by Postgres. */
export default way({
  statement: `select string_agg(line, E',\\n') from (select line ${ROWS}) as page`,
  write: ([row]) => row?.[0] ?? '',
})
