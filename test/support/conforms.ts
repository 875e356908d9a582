import description from '../../functions/openapi.json' with { type: 'json' }
import { conformity } from '../../lib/openapi/conformity.ts'

/** Throws when a response does not conform to functions/openapi.json. */
export const demandConformity = conformity(description)
