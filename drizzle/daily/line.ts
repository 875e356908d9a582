import { sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * The columns of a stored row with its `line`: the row as JSON text, as pages send it, in the order of the columns.
 * Postgres keeps the two equal. `internal` columns, and the brand's, are not sent.
 */
export function withLine<Columns extends Readonly<Record<string, unknown>>>(
  columns: Columns,
  ...internal: readonly (keyof Columns)[]
) {
  const sent = Object.keys(columns).filter((name) => name !== 'brand_id' && !internal.includes(name))
  const fields = sent.map((name, index) =>
    sql.raw(`'${index === 0 ? '{' : ','}"${name}":' || ${daily.schemaName}.json("${name}")`),
  )
  const line = text()
    .notNull()
    .generatedAlwaysAs(sql`${sql.join(fields, sql` || `)} || '}'`)
  return { ...columns, line }
}
