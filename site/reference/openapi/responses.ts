import { ERRORS, PARAMETER_ERRORS } from '../../../lib/request/errors.ts'
import { COMMON_HEADERS, headerReferences } from './headers.ts'
import type { Json } from './json-schema.ts'

/** An error response with an example of its message. `headers` are those that it has in addition to the common ones. */
const error = (description: string, message: string, headers: readonly string[] = []): Json => ({
  description,
  headers: headerReferences([...COMMON_HEADERS, ...headers]),
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { error: message } },
  },
})

/** The responses of `components`, by status. */
export const RESPONSES: Record<string, Json> = {
  304: {
    description: 'The response is unchanged since the one whose `ETag` you sent as `If-None-Match`.',
    headers: headerReferences([...COMMON_HEADERS, 'ETag']),
  },
  400: error('A parameter is missing, misnamed or malformed.', PARAMETER_ERRORS.missing('brandId')),
  401: error(
    'The API key is missing, unknown, revoked, expired or not an export key, or its creator is no longer an owner or admin of the organization.',
    ERRORS.key.message,
  ),
  403: error(
    'The organization has no active plan that includes the Export API. Ask its owner to activate one.',
    ERRORS.plan.message,
  ),
  404: error(
    'The key cannot read this brand. The response does not reveal whether the brand exists.',
    ERRORS.brand.message,
  ),
  429: error(
    'The rate limit is exceeded. Wait the number of seconds in `Retry-After`, then retry.',
    ERRORS.budget.message,
    ['Retry-After'],
  ),
  503: error(
    'The data is temporarily unavailable. Wait the number of seconds in `Retry-After`, then retry.',
    ERRORS.database.message,
    ['Retry-After'],
  ),
}

/** Returns references to responses of `components`. */
export const responseReferences = (statuses: readonly string[]): Record<string, Json> =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]))
