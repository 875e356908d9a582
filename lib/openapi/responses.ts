import { ERRORS, PARAMETER_ERRORS } from '../errors.ts'
import { COMMON_HEADERS, headerReferences } from './headers.ts'
import type { Json } from './json-schema.ts'

/** An error response: what its status means, an example of its message, and headers that it has in addition to the common ones. */
type ErrorResponse = {
  readonly description: string
  readonly message: string
  readonly headers?: readonly string[]
}

const ERROR_RESPONSES: Record<string, ErrorResponse> = {
  400: {
    description: 'A parameter is missing or malformed.',
    message: PARAMETER_ERRORS.missing('brandId'),
  },
  401: {
    description:
      'The API key is missing, unknown, revoked, expired or not an export key, or its creator is no longer an owner or admin of the organization.',
    message: ERRORS.key[1],
  },
  403: {
    description:
      'The organization has no active plan that includes the Export API. Ask its owner to activate one.',
    message: ERRORS.plan[1],
  },
  404: {
    description: 'The key cannot read this brand. The response does not reveal whether the brand exists.',
    message: ERRORS.brand[1],
  },
  429: {
    description: 'The rate limit is exceeded. Wait the number of seconds in `Retry-After`, then retry.',
    message: ERRORS.budget[1],
    headers: ['Retry-After'],
  },
  503: {
    description:
      'The data is temporarily unavailable. Wait the number of seconds in `Retry-After`, then retry.',
    message: ERRORS.database[1],
    headers: ['Retry-After'],
  },
}

/** The responses of `components`, by status. */
export const RESPONSES: Record<string, Json> = {
  304: {
    description: 'The response is unchanged since the one whose `ETag` you sent as `If-None-Match`.',
    headers: headerReferences([...COMMON_HEADERS, 'ETag']),
  },
  ...Object.fromEntries(
    Object.entries(ERROR_RESPONSES).map(([status, { description, message, headers = [] }]) => [
      status,
      {
        description,
        headers: headerReferences([...COMMON_HEADERS, ...headers]),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: { error: message },
          },
        },
      },
    ]),
  ),
}

/** Returns references to responses of `components`. */
export const responseReferences = (statuses: readonly string[]): Record<string, Json> =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]))
