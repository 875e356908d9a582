import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { HttpError } from '../request/errors.ts'

/** The protocol's code of each status. */
const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_PARAMETER_VALUE',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_DOES_NOT_EXIST',
  405: 'METHOD_NOT_ALLOWED',
  416: 'RANGE_NOT_SATISFIABLE',
  429: 'RESOURCE_EXHAUSTED',
  503: 'TEMPORARILY_UNAVAILABLE',
}

/** Returns the protocol's body of an error. */
export const toBody = ({ status, message }: HttpError): object => ({
  errorCode: CODES[status] ?? 'INTERNAL_ERROR',
  message,
})

/** Returns a 401 as the share has it, which asks for a bearer token, and any other error as it is. */
export const withChallenge = (error: Error): Error =>
  error instanceof HttpError && error.status === 401 ? shareError('bearerToken') : error

/** Every error of the share alone. A message names a cause or a parameter, never a value that was sent. */
const ERRORS = {
  bearerToken: [
    401,
    'Bearer token missing or invalid. Send an active export key: Authorization: Bearer svc_live_….',
    { 'WWW-Authenticate': 'Bearer' },
  ],
  path: [404, 'Not found. The API of the share begins at /api/sharing/v1/shares.'],
  share: [404, 'Share not found. The only share is export.'],
  schema: [404, 'Schema not found. The only schema is metrics.'],
  table: [404, 'Table not found. Send GET /api/sharing/v1/shares/export/all-tables for the tables.'],
  unpublished: [503, 'Nothing is published yet. Retry in five minutes.'],
  bucket: [503, 'The objects are temporarily unavailable. Retry the request.'],
  signature: [403, 'The URL of this object is invalid or has expired. Query the table again.'],
  object: [404, 'The object no longer exists. Query the table again.'],
  range: [416, 'The range begins after the end of the object.'],
  body: [400, 'The body must be a JSON object of at most 256 KiB.'],
  format: [400, 'Only responseformat=parquet is supported. Add it to delta-sharing-capabilities.'],
  pageToken: [400, 'Parameter pageToken is invalid. Send nextPageToken unchanged.'],
  maxResults: [400, 'Parameter maxResults must be a whole number from 0.'],
  streaming: [
    400,
    'A query has no startingVersion and no endingVersion. Set the option readChangeFeed to true to read changes.',
  ],
  asOf: [400, 'Send at most one of version, timestamp and refreshToken.'],
  fileIdHash: [400, 'Only fileidhash: parquet is supported. Send it, or leave it out.'],
  start: [400, 'Send either startingVersion or startingTimestamp.'],
  end: [400, 'Send at most one of endingVersion and endingTimestamp.'],
  order: [400, 'The end must not be before the start.'],
  future: [400, "This version does not exist yet. Ask the table's /version for the latest."],
} as const satisfies Record<
  string,
  readonly [ContentfulStatusCode, string, Readonly<Record<string, string>>?]
>

/** Returns an error of the share. */
export function shareError(
  cause: keyof typeof ERRORS,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const [status, message, always] = ERRORS[cause]
  return new HttpError(status, message, { ...always, ...headers })
}

const FORMS = {
  version: 'a whole number from 0 to 2147483647',
  timestamp: 'a time such as 2026-11-22T04:31:07Z',
  token: 'the refreshToken of an earlier response',
}

/** Returns a 400 for a parameter that is not a valid `kind`. */
export const malformed = (name: string, kind: keyof typeof FORMS): HttpError =>
  new HttpError(400, `Parameter ${name} must be ${FORMS[kind]}.`)

/** Returns a 400 for a version or time before the oldest version. */
export const tooOld = ({ oldest, oldestAt }: { oldest: number; oldestAt: string }): HttpError =>
  new HttpError(400, `The oldest version is ${oldest}, committed at ${oldestAt}. Start there or later.`)
