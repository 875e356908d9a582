import description from '../../functions/openapi.json' with { type: 'json' }
import { conformity } from '../../lib/openapi/conformity.ts'

/** Throws when an answer is not what this checkout's OpenAPI document says of its path and status. */
export const demandConformity = conformity(description)
