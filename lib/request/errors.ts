import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Every error: its status and its message. A message names a cause or a parameter, never a value that was sent. */
export const ERRORS = {
  unknownPath: {
    status: 404,
    message: 'Not found. See /api/export/v1/openapi.json for the available paths.',
  },
  plainHttp: {
    status: 403,
    message: 'Plain HTTP is not served. Use https://, and rotate a key that you sent over http://.',
  },
  outerLimit: {
    status: 429,
    message:
      'Too many requests from this address or with this key. Wait the number of seconds in Retry-After, then retry.',
  },
  budget: {
    status: 429,
    message: 'Rate limit exceeded. Wait the number of seconds in Retry-After, then retry.',
  },
  key: {
    status: 401,
    message: 'API key missing or invalid. Send an active export key in the X-API-Key header.',
  },
  plan: {
    status: 403,
    message:
      'The organization has no active plan that includes the Export API. Ask its owner to activate one.',
  },
  brand: { status: 404, message: 'Brand not found for this API key. Use an id from /api/export/v1/brands.' },
  database: { status: 503, message: 'Temporarily unavailable. Retry the request.' },
  internal: {
    status: 500,
    message: 'Internal error. Retry the request; if it still fails, report the X-Request-Id.',
  },
} as const satisfies Record<string, { readonly status: ContentfulStatusCode; readonly message: string }>

/** The messages of parameter errors (400). */
export const PARAMETER_ERRORS = {
  repeated: (name: string) => `Parameter ${name} is repeated. Send it once.`,
  missing: (name: string) => `Parameter ${name} is missing. Add it to the query string.`,
  misnamed: (name: string) => `The name of a parameter is wrong. Use ${name}.`,
  dates: 'The name of a parameter is wrong. Use fromDate and toDate, which can be the same day.',
  position: 'The position of a page is its cursor. Send the nextCursor of the previous page as cursor.',
  size: 'A page always has up to 1000 rows, and a file has all rows. Leave out the parameter for the size.',
  sinceOfMetric:
    'Parameter since belongs to /changes, which lists the days that changed. Use fromDate for the first day of a window.',
  endOfDays: 'The days have no end: /days lists each day that changed. Use fromDate for the first day.',
  endpoint:
    'Parameter endpoint must be the last segment of the path of a metric, such as visibility. Leave it out for all.',
  formatOfDays: 'Parameter format must be json. Leave it out: /days has pages and no files.',
  sinceWithCursor: 'Parameter since belongs to the first request of a run. Leave it out beside cursor.',
  brandId: 'Parameter brandId must be a UUID. Use an id from /api/export/v1/brands.',
  fromDate:
    'Parameter fromDate must be a calendar date in the format YYYY-MM-DD. Leave it out for the default.',
  toDate: 'Parameter toDate must be a calendar date in the format YYYY-MM-DD. Leave it out for the default.',
  since:
    'Parameter since must be a time in the format YYYY-MM-DDTHH:MM:SS.ssssssZ. Send a changed_at unchanged, with the + of an offset as %2B, or leave it out for all changes.',
  lacksFromDate: 'Parameter fromDate is missing. It is required when toDate is more than 30 days ago.',
  order: 'Parameter fromDate must not be later than toDate.',
  cursor:
    'Parameter cursor is invalid. Send nextCursor unchanged, with the same path and the other parameters of the first page.',
  format: 'Parameter format must be json, csv or ndjson. Leave it out for json.',
  cursorOfFile: 'Parameter cursor does not apply to csv and ndjson, which have all rows. Leave it out.',
  tooManyRows:
    'The window has more than 2,000,000 rows, the most that a file holds. Shorten it with fromDate and toDate.',
} as const

/** An error with its HTTP status, message and headers: thrown where it is found, sent by the app's error handler. */
export class HttpError extends Error {
  readonly status: ContentfulStatusCode
  readonly headers: Readonly<Record<string, string>>

  constructor(status: ContentfulStatusCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** Returns an error of the catalogue. */
export function httpError(
  cause: keyof typeof ERRORS,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const { status, message } = ERRORS[cause]
  return new HttpError(status, message, headers)
}

/** Returns a 400 for a missing or malformed parameter. */
export const parameterError = (message: string): HttpError => new HttpError(400, message)
