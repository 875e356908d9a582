import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import description from '../../functions/openapi.json' with { type: 'json' }

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(description, 'openapi')

/** Statuses that say that a path or a method is none of the API's: the document describes what is. */
const OUTSIDE = new Set(['404', '405'])

const HEADERS = Object.keys(description.components.headers)

/**
 * Throws when an answer is not what the OpenAPI document says of its path and status. A path that the document does not
 * describe (the document's own, the health check's) may answer what it likes, but refuses as all do.
 */
export function demandConformity(path: string, status: string, headers: Headers, body: unknown): void {
  if (headers.get('Content-Type') !== 'application/json') throw new Error(`${path} is not application/json`)
  if (!headers.has('X-Request-Id')) throw new Error(`${path} has no X-Request-Id`)
  const operation = Object.entries(description.paths).find(([known]) => known === path)?.[1].get
  if (operation === undefined && status === '200') return
  const answer = Object.entries(operation?.responses ?? {}).find(([known]) => known === status)?.[1]
  if (operation !== undefined && answer === undefined && !OUTSIDE.has(status)) {
    throw new Error(`${status} of ${path} is not described`)
  }
  if (answer !== undefined) demandHeaders(`${status} of ${path}`, headers, '$ref' in answer ? status : answer)
  const at = answer === undefined || '$ref' in answer ? '#/components/schemas/Error' : schemaAt(path)
  const validate = ajv.getSchema(`openapi${at}`)
  if (validate === undefined) throw new Error(`No schema at ${at}`)
  if (!validate(body)) throw new Error(`${status} of ${path}: ${ajv.errorsText(validate.errors)}`)
}

/** Each header that the document knows is described for this very answer, given or by its status. */
function demandHeaders(what: string, headers: Headers, answer: string | { headers: object }): void {
  const shared = Object.entries(description.components.responses).find(([known]) => known === answer)?.[1]
  const described = Object.keys((typeof answer === 'string' ? shared : answer)?.headers ?? {})
  for (const name of HEADERS) {
    if (headers.has(name) && !described.includes(name)) throw new Error(`${what} does not describe ${name}`)
  }
}

const schemaAt = (path: string): string =>
  `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
