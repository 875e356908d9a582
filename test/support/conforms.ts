import { conformity } from '../../cli/conformity.ts'
import description from '../../functions/openapi.json' with { type: 'json' }

/** Throws when an answer is not what this checkout's OpenAPI document says of its path and status. */
export const demandConformity = conformity(description)
