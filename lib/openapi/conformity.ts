import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** As much of an OpenAPI document as it takes to tell whether an answer is what it says. */
export type Description = {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Responses } }>>
  readonly components: {
    readonly headers: object
    readonly responses: Responses
  }
}

type Responses = Readonly<Record<string, { readonly $ref?: string; readonly headers?: object }>>

/** Statuses that say that a path or a method is none of the API's: the document describes what is. */
const OUTSIDE = new Set(['404', '405'])

/** An answer, and the path and status to look it up by. */
export type Answered = {
  readonly path: string
  readonly status: string
  readonly headers: Headers
  readonly body: unknown
}

/**
 * A check against a document that throws when an answer is not what it says of the answer's path and status. A path
 * that it does not describe (the document's own, the health check's) may answer what it likes, but refuses as all do.
 */
export function conformity(description: Description): (answered: Answered) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(description, 'openapi')
  const known = Object.keys(description.components.headers)

  /** Each header that the document knows is described for this very answer, given or by its status. */
  function demandHeaders(what: string, headers: Headers, described: object | undefined): void {
    const names = Object.keys(described ?? {})
    for (const name of known) {
      if (headers.has(name) && !names.includes(name)) throw new Error(`${what} does not describe ${name}`)
    }
  }

  return ({ path, status, headers, body }) => {
    if (headers.get('Content-Type') !== 'application/json') throw new Error(`${path} is not application/json`)
    if (!headers.has('X-Request-Id')) throw new Error(`${path} has no X-Request-Id`)
    const responses = description.paths[path]?.get.responses
    if (responses === undefined && status === '200') return
    const answer = responses?.[status]
    if (responses !== undefined && answer === undefined && !OUTSIDE.has(status)) {
      throw new Error(`${status} of ${path} is not described`)
    }
    const shared = answer?.$ref !== undefined
    if (answer !== undefined) {
      const described = shared ? description.components.responses[status] : answer
      demandHeaders(`${status} of ${path}`, headers, described?.headers)
    }
    const at = answer === undefined || shared ? '#/components/schemas/Error' : schemaAt(path)
    const validate = ajv.getSchema(`openapi${at}`)
    if (validate === undefined) throw new Error(`No schema at ${at}`)
    if (!validate(body)) throw new Error(`${status} of ${path}: ${ajv.errorsText(validate.errors)}`)
  }
}

const schemaAt = (path: string): string =>
  `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
