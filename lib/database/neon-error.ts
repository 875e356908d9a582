import type { NeonDbError } from '@neondatabase/serverless'

/** What Neon answered: its HTTP status, the SQLSTATE and the class of its message, each if there is one. */
export type NeonError = {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly reason: Reason | undefined
}

/** Classes of errors by how their messages begin; the first match counts. Messages can quote what was sent. */
const REASONS = [
  ['password authentication failed', 'wrong_password'],
  ['Too many connections to this endpoint', 'rate_limit'],
  ['Failed to acquire permit to connect', 'connection_limit'],
  ["Couldn't connect to compute node", 'compute_unreachable'],
  ['error communicating with the server', 'connection_lost'],
  ['connection closed', 'connection_lost'],
  ['Control plane request failed: endpoint cannot be found', 'endpoint_not_found'],
  ['Control plane request failed: endpoint is disabled', 'endpoint_disabled'],
  ['Control plane request failed: endpoint is temporarily unavailable', 'quota'],
  ['Your account or project has exceeded', 'quota'],
  ['Control plane request failed', 'control_plane'],
  ['This IP address', 'ip_not_allowed'],
  ['request is too large', 'too_large'],
  ['response is too large', 'too_large'],
  ['query would be affected by row-level security policy', 'row_level_security'],
  ['Row level security of', 'row_level_security'],
  // PgBouncer's, all with SQLSTATE 08P01.
  ['query_wait_timeout', 'pooler_timeout'],
  ['no more connections allowed', 'pooler_full'],
] as const

type Reason = (typeof REASONS)[number][1]

const SQLSTATE = /^[0-9A-Z]{5}$/

/** Neon's client puts every status but 400, and the body, into the message. */
const OTHER_STATUS = /^Server error \(HTTP status (\d{3})\): (.*)$/s

/** Parses an error of Neon's client. */
export function parseNeonError(error: NeonDbError): NeonError {
  if (error.sourceError !== undefined) return { status: undefined, code: undefined, reason: undefined }
  const [, status = '400', body] = OTHER_STATUS.exec(error.message) ?? []
  const { message, code } = body === undefined ? error : parseBody(body)
  const reason = REASONS.find(([beginning]) => message?.startsWith(beginning))?.[1]
  return { status: Number(status), code: code && SQLSTATE.test(code) ? code : undefined, reason }
}

function parseBody(text: string): { message?: string; code?: string } {
  try {
    const body: unknown = JSON.parse(text)
    const { message, code } = Object.assign({ message: '', code: '' }, body)
    return { message: String(message), code: String(code) }
  } catch {
    return {}
  }
}
