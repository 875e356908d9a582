import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** The parts of an OpenAPI document that the validator reads. */
export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Responses } }>>
  readonly components: { readonly headers: object; readonly responses: Responses }
}

type Responses = Readonly<Record<string, { readonly $ref?: string; readonly headers?: object }>>

/** Statuses of unknown paths and methods, which the document does not describe. */
const UNDOCUMENTED_STATUSES = new Set(['404', '405'])

/** A response, with the path and the status under which the document describes it. */
export type ReceivedResponse = {
  readonly path: string
  readonly status: string
  readonly headers: Headers
  readonly body: unknown
}

/**
 * Returns the document with schemas that allow no other fields, except objects whose fields have no fixed names. To
 * clients it leaves them open: fields can be added.
 */
const closed = (document: OpenApiDocument): object =>
  JSON.parse(JSON.stringify(document), (_, value) =>
    value?.type === 'object' ? { additionalProperties: false, ...value } : value,
  )

/**
 * Returns a function that throws unless a response matches its description and has no other fields. On paths that the document does not
 * describe, such as `/healthz`, it checks errors only.
 */
export function responseValidator(document: OpenApiDocument): (response: ReceivedResponse) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(closed(document), 'openapi')
  const knownHeaders = Object.keys(document.components.headers)

  return ({ path, status, headers, body }) => {
    if (headers.get('Content-Type') !== 'application/json') throw new Error(`${path} is not application/json`)
    if (!headers.has('X-Request-Id')) throw new Error(`${path} has no X-Request-Id`)
    const responses = document.paths[path]?.get.responses
    if (responses === undefined && status === '200') return
    const described = responses?.[status]
    if (responses !== undefined && described === undefined && !UNDOCUMENTED_STATUSES.has(status)) {
      throw new Error(`The document does not describe ${status} of ${path}`)
    }
    const isShared = described?.$ref !== undefined
    if (described !== undefined) {
      const allowed = (isShared ? document.components.responses[status] : described)?.headers ?? {}
      const unexpected = knownHeaders.find((name) => headers.has(name) && !Object.hasOwn(allowed, name))
      if (unexpected !== undefined) {
        throw new Error(`The document does not describe ${unexpected} on ${status} of ${path}`)
      }
    }
    const pointer = described === undefined || isShared ? '#/components/schemas/Error' : schemaPointer(path)
    const validate = ajv.getSchema(`openapi${pointer}`)
    if (validate === undefined) throw new Error(`The document has no schema at ${pointer}`)
    if (!validate(body)) throw new Error(`${status} of ${path}: ${ajv.errorsText(validate.errors)}`)
  }
}

const schemaPointer = (path: string): string =>
  `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
