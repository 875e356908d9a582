import { randomUUID } from 'node:crypto'
import pg, { type QueryArrayResult } from 'pg'
import { MAX_BYTES, NeonError } from './request.ts'

/** The format that the caller asks for. */
export interface Output {
  rawText: boolean
  arrays: boolean
}

type Cell = string | null

/** Types whose text is valid JSON. Neon sends them as JSON unless raw text was requested. */
const { BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, JSON: JSON_TYPE, JSONB } = pg.types.builtins
const JSON_TYPES: ReadonlySet<number> = new Set([BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, JSON_TYPE, JSONB])

/**
 * Writes the results of one response in Neon's format. Throws 507 when rows of more than 10 MiB come before a row: one
 * row of any size passes.
 */
export function createWriter(output: Output): (result: QueryArrayResult<Cell[]>) => string {
  let bytes = 0
  return ({ command, rowCount, fields, rows }) => {
    const lines = rows.map((row) => {
      if (bytes > MAX_BYTES) throw new NeonError(507, `response is too large (max is ${MAX_BYTES} bytes)`)
      const cells = output.rawText ? row : row.map((cell, i) => jsonCell(cell, fields[i]?.dataTypeID))
      const line = JSON.stringify(
        output.arrays ? cells : Object.fromEntries(cells.map((cell, i) => [fields[i]?.name, cell])),
      )
      bytes += Buffer.byteLength(line)
      return line
    })
    const rest = JSON.stringify({ command, rowCount, rowAsArray: output.arrays })
    return `{"fields":${JSON.stringify(fields)},"rows":[${lines}],${rest.slice(1)}`
  }
}

function jsonCell(cell: Cell, type: number | undefined): unknown {
  if (cell === null || type === undefined || !JSON_TYPES.has(type)) return cell
  if (type === BOOL) return cell === 't'
  if (type !== JSON_TYPE && type !== JSONB && !Number.isFinite(Number(cell))) return cell
  return JSON.parse(cell)
}

/** A response with the headers of Neon's. */
export function jsonResponse(status: number, json: string): Response {
  return new Response(json, {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(json)),
      'neon-request-id': randomUUID(),
    },
  })
}

/** The fields of Neon's errors after `message`; those that Postgres did not send are null or, of two, empty. */
const ERROR_FIELDS = [
  ...(['code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'severity'] as const),
  ...(['where', 'table', 'column', 'schema', 'dataType', 'constraint', 'file', 'line', 'routine'] as const),
]

/** Neon's response to an error: its own status, or 400 when a query failed. */
export function errorResponse(error: unknown): Response {
  const cause = error instanceof NeonError ? error.cause : error
  const postgres = cause instanceof pg.DatabaseError ? cause : undefined
  const message = error instanceof Error ? error.message : String(error)
  const fields = ERROR_FIELDS.map((name) => {
    const absent = name === 'code' || name === 'severity' ? '' : null
    return [name, postgres?.[name] ?? absent]
  })
  const status = error instanceof NeonError ? error.status : 400
  return jsonResponse(status, JSON.stringify({ message, ...Object.fromEntries(fields) }))
}
