/** Every refusal: its status and its sentence. Sentences name a cause or a parameter, never a value that was sent. */
export const ERRORS = {
  unknownPath: [404, 'There is nothing at this path.'],
  method: [405, 'Only GET and HEAD are answered here.'],
  budget: [429, 'The rate limit of 100 requests per minute is exceeded; Retry-After says when to go on.'],
  key: [401, 'The API key is missing or not valid.'],
  plan: [403, 'The organization of this API key has no active plan that includes the Export API.'],
  brand: [404, 'There is no brand with this brandId that the API key can read.'],
  database: [503, 'The data cannot be read right now; the same request can be sent again.'],
  internal: [500, 'Something went wrong on our side.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

/** What a parameter must look like, told when it does not (400). */
export const PARAMETER_ERRORS = {
  repeated: (name: string) => `The parameter ${name} is given more than once.`,
  missing: (name: string) => `The parameter ${name} is missing.`,
  brandId: 'The parameter brandId must be a UUID, as the brands listing gives it.',
  fromDate: 'The parameter fromDate must be a calendar day written YYYY-MM-DD.',
  toDate: 'The parameter toDate must be a calendar day written YYYY-MM-DD.',
  order: 'The parameter fromDate must not be later than toDate.',
  cursor:
    'The parameter cursor must be a nextCursor as it was received, sent with the same path, brandId, fromDate and toDate.',
} as const

/** A refusal on its way to the caller: thrown where it is found, answered in one place. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence)
    this.status = status
    this.headers = headers
  }
}

/** A refusal of the catalogue. */
export function httpError(
  cause: keyof typeof ERRORS,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const [status, sentence] = ERRORS[cause]
  return new HttpError(status, sentence, headers)
}

/** A parameter that is missing or malformed (specification, section 7). */
export const parameterError = (sentence: string): HttpError => new HttpError(400, sentence)
