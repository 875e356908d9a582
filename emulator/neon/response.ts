import pg, { type QueryArrayResult } from 'pg'
import { NeonError } from './request.ts'

/** Neon's default limit for responses. */
const MAX_BYTES = 10 * 1024 * 1024

type Result = QueryArrayResult<(string | null)[]>

/**
 * Writes a result in Neon's format, with rows as arrays of text. Throws 507 when rows of more than 10 MiB come before a
 * row: one row of any size passes.
 */
export function writeResult({ command, rowCount, fields, rows }: Result): string {
  let bytes = 0
  const lines = rows.map((row) => {
    if (bytes > MAX_BYTES) throw new NeonError(507, `response is too large (max is ${MAX_BYTES} bytes)`)
    const line = JSON.stringify(row)
    bytes += Buffer.byteLength(line)
    return line
  })
  const rest = JSON.stringify({ command, rowCount, rowAsArray: true })
  return `{"fields":${JSON.stringify(fields)},"rows":[${lines}],${rest.slice(1)}`
}

/** A response with the headers of Neon's. */
export function jsonResponse(status: number, json: string): Response {
  return new Response(json, {
    status,
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) },
  })
}

/** Neon's response to an error: its own status, or 400 when a query failed. Without the fields that no Worker reads. */
export function errorResponse(error: unknown): Response {
  const cause = error instanceof NeonError ? error.cause : error
  const code = (cause instanceof pg.DatabaseError && cause.code) || ''
  const message = error instanceof Error ? error.message : String(error)
  const status = error instanceof NeonError ? error.status : 400
  return jsonResponse(status, JSON.stringify({ message, code }))
}
