import { ERRORS } from '../errors.ts'
import { PLANS } from '../plans.ts'
import { BUDGET } from '../rate-limit.ts'
import { DEFAULT_DAYS } from '../window.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** What the whole description begins with. */
export const ABOUT = `Start with the brands listing: every other endpoint takes a \`brandId\` from it. Follow \`pagination.nextCursor\`
until \`hasMore\` is false, and keep the other parameters as they are meanwhile. Rows are meant to be added up: averaging
daily rates gives another number than the formula of an endpoint.

The last ${DEFAULT_DAYS} days are read when no window is given. A window reaches back
${Object.entries(PLANS)
  .filter(([, { keys }]) => keys > 0)
  .map(
    ([plan, { lookbackDays }]) =>
      `${lookbackDays === null ? 'without limit' : `${lookbackDays} days`} (${plan})`,
  )
  .join(', ')}; an earlier start is moved up without an error. ${BUDGET.requests} requests pass in each clock
minute, over all endpoints together.

For a first load, ask for one month at a time; afterwards pull the last few days each day, from the day after
\`X-Data-Settled-Through\` on.`

/** The headers of answers, by name. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': {
    description:
      'Names this request in our logs: your own `X-Request-Id` where it is 1 to 64 letters, digits, `.`, `_` or `-`, else a new one.',
    schema: { type: 'string' },
  },
  'Server-Timing': {
    description: 'Milliseconds waited for the database (`db`) and for the rate budget (`budget`).',
    schema: { type: 'string' },
    example: 'budget;dur=4, db;dur=9',
  },
  'RateLimit-Policy': {
    description: 'The budget: requests `q` in each window of `w` seconds.',
    schema: { type: 'string' },
    example: `"default";q=${BUDGET.requests};w=${BUDGET.seconds}`,
  },
  RateLimit: {
    description:
      'What is left of the budget: `r` requests, whole again in `t` seconds. Absent while the counter is away.',
    schema: { type: 'string' },
    example: '"default";r=97;t=42',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer' },
  },
  ETag: {
    description:
      'Names this very answer. Absent on a page whose window is open, that is one that reaches to today or further.',
    schema: { type: 'string' },
    example: '"4b9e9d1a6f8e0c2d7a3b5c1e9f0d8a76"',
  },
  Link: {
    description: 'Address of the next page, with `rel="next"`; absent on the last one.',
    schema: { type: 'string' },
  },
  'X-Data-Settled-Through': {
    description:
      'Last day of the window (UTC) up to which every row is up to date: nothing before the day after it waits to be computed anew. Absent when no day of the window is.',
    schema: { type: 'string', format: 'date' },
  },
}

/** The headers of an endpoint that will go, refusals included. */
export const ANNOUNCEMENT: Record<string, Json> = {
  Deprecation: {
    description: 'Since when this endpoint is deprecated: `@` and seconds since 1970 (RFC 9745).',
    schema: { type: 'string' },
  },
  Sunset: { description: 'When this endpoint may end (RFC 8594).', schema: { type: 'string' } },
}

export type RefusalAnswer = {
  readonly description: string
  readonly sentence: string
  readonly headers?: readonly string[]
}

/** What every answer past the rate budget's gate carries. */
export const COMMON_HEADERS = ['X-Request-Id', 'Server-Timing', 'RateLimit-Policy', 'RateLimit']

/** Error answers, by status. */
export const REFUSALS: Record<string, RefusalAnswer> = {
  400: { description: 'A parameter is missing or malformed.', sentence: 'The parameter brandId is missing.' },
  401: {
    description:
      'The key is missing, unknown, revoked, expired or of another kind, or its creator is no longer owner or admin.',
    sentence: ERRORS.key[1],
  },
  403: {
    description: 'The organization has no active plan that includes the API.',
    sentence: ERRORS.plan[1],
  },
  404: {
    description: 'The key cannot read such a brand; whether it exists elsewhere is not told.',
    sentence: ERRORS.brand[1],
  },
  429: { description: 'The rate budget is used up.', sentence: ERRORS.budget[1], headers: ['Retry-After'] },
  503: {
    description: 'The data cannot be read right now; send the request again.',
    sentence: ERRORS.database[1],
    headers: ['Retry-After'],
  },
}
