import pg, { type QueryArrayResult } from 'pg'
import { MAX_BYTES } from './request.ts'

/** The format that the caller asks for. */
export interface Output {
  rawText: boolean
  arrays: boolean
}

type Cell = string | null

/** Types whose text is valid JSON. Neon sends them as JSON unless raw text was requested. */
const { BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, JSON: JSON_TYPE, JSONB } = pg.types.builtins
const JSON_TYPES: ReadonlySet<number> = new Set([BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, JSON_TYPE, JSONB])

/** A result in Neon's format. */
export function resultOf(result: QueryArrayResult<Cell[]>, output: Output) {
  const { command, rowCount, fields } = result
  const rows = result.rows.map((row) => {
    const cells = output.rawText ? row : row.map((cell, i) => jsonCell(cell, fields[i]?.dataTypeID))
    return output.arrays ? cells : Object.fromEntries(cells.map((cell, i) => [fields[i]?.name, cell]))
  })
  return { command, rowCount, rows, fields, rowAsArray: output.arrays }
}

function jsonCell(cell: Cell, type: number | undefined): unknown {
  if (cell === null || type === undefined || !JSON_TYPES.has(type)) return cell
  if (type === BOOL) return cell === 't'
  if (type !== JSON_TYPE && type !== JSONB && !Number.isFinite(Number(cell))) return cell
  return JSON.parse(cell)
}

/** A JSON response, or Neon's 507 when it is over the size limit. */
export function limited(json: string): Response {
  if (Buffer.byteLength(json) > MAX_BYTES) {
    return Response.json({ message: `response is too large (max is ${MAX_BYTES} bytes)` }, { status: 507 })
  }
  return new Response(json, { headers: { 'content-type': 'application/json' } })
}

/** The fields of Neon's errors after `message`; those that Postgres did not send are null or, of two, empty. */
const ERROR_FIELDS = [
  ...(['code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'severity'] as const),
  ...(['where', 'table', 'column', 'schema', 'dataType', 'constraint', 'file', 'line', 'routine'] as const),
]

/**
 * Neon's response to an error: 400 with Postgres's fields when a query failed, or its connection broke; 500 when
 * connecting failed, except 400 when the database does not exist.
 */
export function errorResponse(error: unknown, during: 'connecting' | 'querying'): Response {
  const postgres = error instanceof pg.DatabaseError ? error : undefined
  const status = during === 'querying' || postgres?.code === '3D000' ? 400 : 500
  const message = error instanceof Error ? error.message : String(error)
  const fields = ERROR_FIELDS.map((name) => {
    const absent = name === 'code' || name === 'severity' ? '' : null
    return [name, postgres?.[name] ?? absent]
  })
  return Response.json({ message, ...Object.fromEntries(fields) }, { status })
}
