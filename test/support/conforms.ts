import document from '../../functions/openapi.json' with { type: 'json' }
import { responseValidator } from '../../lib/openapi/response-validator.ts'

/** Throws when a response does not conform to functions/openapi.json. */
export const demandConformity = responseValidator(document)
