import { readReference } from '../../functions/docs/reference.ts'
import document from '../../functions/openapi.json' with { type: 'json' }

/** The reference that the page is made from. */
export const reference = readReference(document)
