/** A request that failed. `message` is the service's own sentence when it sent one. */
export class ExportApiError extends Error {
  override name = 'ExportApiError'
  /** Status of the response; undefined when there was none. */
  readonly status: number | undefined
  /** `X-Request-Id` of the response. Quote it when you report a problem. */
  readonly requestId: string | undefined
  /** `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails) {
    super(message, details)
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
  }
}

type ErrorDetails = {
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** 400: a parameter is malformed. */
export class BadRequestError extends ExportApiError {
  override name = 'BadRequestError'
}

/** 401: the key is missing, malformed, revoked or expired. */
export class UnauthorizedError extends ExportApiError {
  override name = 'UnauthorizedError'
}

/** 403: the organization has no active plan with the Export API. */
export class ForbiddenError extends ExportApiError {
  override name = 'ForbiddenError'
}

/** 404: the key cannot read the brand, or the path does not exist. */
export class NotFoundError extends ExportApiError {
  override name = 'NotFoundError'
}

/** 429: the rate limit, in each attempt. `retryAfterMs` says when to try again. */
export class RateLimitError extends ExportApiError {
  override name = 'RateLimitError'
}

/** 500 and above, in each attempt. */
export class ServerError extends ExportApiError {
  override name = 'ServerError'
}

/** No complete response in any attempt. */
export class ConnectionError extends ExportApiError {
  override name = 'ConnectionError'
}

const BY_STATUS: Readonly<Record<number, typeof ExportApiError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  429: RateLimitError,
}

/** Returns the error of a status other than 200. */
export function errorOf(message: string, details: ErrorDetails): ExportApiError {
  const { status = 0 } = details
  const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : ExportApiError)
  return new Class(message, details)
}
