import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import description from '../../functions/openapi.json' with { type: 'json' }

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(description, 'openapi')

/** Statuses that say that a path or a method is none of the API's: the document describes what is. */
const OUTSIDE = new Set(['404', '405'])

/** Throws when an answer is not what the OpenAPI document says of its path and status. */
export function demandConformity(path: string, status: string, headers: Headers, body: unknown): void {
  const operation = Object.entries(description.paths).find(([known]) => known === path)?.[1].get
  const answer = Object.entries(operation?.responses ?? {}).find(([known]) => known === status)?.[1]
  if (answer === undefined && !OUTSIDE.has(status)) throw new Error(`${status} of ${path} is not described`)
  if (headers.get('Content-Type') !== 'application/json') throw new Error(`${path} is not application/json`)
  const at = answer === undefined || '$ref' in answer ? '#/components/schemas/Error' : schemaAt(path)
  const validate = ajv.getSchema(`openapi${at}`)
  if (validate === undefined) throw new Error(`No schema at ${at}`)
  if (!validate(body)) throw new Error(`${status} of ${path}: ${ajv.errorsText(validate.errors)}`)
}

const schemaAt = (path: string): string =>
  `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
