import * as z from 'zod/mini'
import { RATE_LIMIT } from '../../../lib/limits/token-bucket.ts'
import { type Json, jsonSchema } from './json-schema.ts'

const text = (description: string, example?: string): Json => ({
  description,
  schema: { type: 'string' },
  ...(example && { example }),
})

/** The response headers of `components`, by name. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': text(
    'Identifies the request in the logs of the service. Repeats your own `X-Request-Id` when it has 1 to 64 letters, digits, `.`, `_` or `-`.',
  ),
  'Server-Timing': text(
    'Milliseconds spent waiting for the database (`db`) and for the rate limiter (`budget`).',
    'budget;dur=4, db;dur=9',
  ),
  'RateLimit-Policy': text(
    'The rate limit: `q` requests, which an empty bucket has again after `w` seconds.',
    `"default";q=${RATE_LIMIT.requests};w=${RATE_LIMIT.seconds}`,
  ),
  RateLimit: text(
    'The requests left (`r`), and the seconds until the next refill (`t`). Absent while the rate limiter is unavailable.',
    '"default";r=97;t=2',
  ),
  'Retry-After': {
    description: 'Seconds to wait before you retry the request.',
    schema: jsonSchema(z.int32().check(z.gte(1))),
  },
  ETag: text(
    'Identifies this version of the response. Send it as `If-None-Match` to receive 304 while the response is unchanged. Absent on pages whose window includes today or later days.',
    '"4b9e9d1a6f8e0c2d7a3b5c1e9f0d8a76"',
  ),
  'Content-Disposition': text(
    'Name of the file. Absent on JSON.',
    'attachment; filename="visibility_0195a1c0-0000-7000-8000-000000000001_2026-10-01_2026-10-31.csv"',
  ),
  'X-Expected-Rows': {
    description:
      'Number of rows of the file when it began. Absent on JSON. If another number arrives, request the file again.',
    schema: jsonSchema(z.int32().check(z.gte(0))),
    example: 14630,
  },
  Link: text(
    'URL of the next page, with `rel="next"`. Absent on the last page, and where it would have more than 2,000 characters: use `nextCursor`.',
  ),
  'X-Window': text(
    'First and last day of the window that was applied, inclusive. `..` is no last day, on `/changes` without `toDate`. A file has no `meta`: a later first day than the requested one shows that the plan clamped it.',
    '2026-08-28/2026-11-26',
  ),
  'X-Data-As-Of': {
    description:
      "Every change of the brand's data (on `/days` without `brandId`: of all brands of the key) that was committed before this time is in the response. On a file, this holds for its first 1000 rows and was true when it began. Absent only before the first refresh.",
    schema: { type: 'string', format: 'date-time' },
  },
}

/** Names of the headers on every response that counts against the rate limit. */
export const COMMON_HEADERS = ['X-Request-Id', 'Server-Timing', 'RateLimit-Policy', 'RateLimit']

/** Returns references to headers of `components`. */
export const headerReferences = (names: readonly string[]): Record<string, Json> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
