import document from '../../functions/openapi.json' with { type: 'json' }
import { readReference } from '../../reference/reference.ts'

/** The reference that the page is made from. */
export const reference = readReference(document)
