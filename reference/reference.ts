import * as z from 'zod/mini'
import type { Formula } from '../lib/operation.ts'
import { OpenApiDocument, RowSchema, type Schema, SuccessResponse } from './openapi-schema.ts'

/** A field of a row. `type` is the format of its schema, or its JSON type when it has no format. */
export type Field = {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly description: string
  /** Whether its values add up over rows. */
  readonly additive: boolean
}

export type Parameter = Pick<Field, 'name' | 'type' | 'description'> & {
  readonly required: boolean
  readonly example: string
}

/** An endpoint, with what the page and the code samples need. */
export type Endpoint = {
  /** Last segment of the path. Names the anchor, the form and the files of the code samples. */
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly rowName: string
  readonly fields: readonly Field[]
  /** Names of the fields that identify a row within its brand. */
  readonly primaryKey: readonly string[]
  readonly formula: Formula | undefined
  readonly statuses: readonly string[]
  readonly example: string
}

/** Whether an endpoint returns pages. */
export const isPaged = ({ parameters }: Pick<Endpoint, 'parameters'>): boolean =>
  parameters.some(({ name }) => name === 'cursor')

/** Whether the pages of an endpoint list the latest changes, instead of all rows of a window. */
export const listsChanges = ({ parameters }: Pick<Endpoint, 'parameters'>): boolean =>
  parameters.some(({ name }) => name === 'since')

/** Whether an endpoint returns a brand's rows, which do not carry the brand. */
export const isMetric = (endpoint: Pick<Endpoint, 'parameters'>): boolean =>
  isPaged(endpoint) && !listsChanges(endpoint)

/** The parameter that asks for a file instead of JSON. It is not an input of the page, which has a button instead. */
export const fileParameter = ({ parameters }: Pick<Endpoint, 'parameters'>): Parameter | undefined =>
  parameters.find(({ name }) => name === 'format')

/** The content of the page, and of its form as Markdown. */
export type Reference = {
  readonly title: string
  readonly version: string
  readonly summary: string
  readonly description: string
  /** The header that carries the key. */
  readonly authentication: { readonly name: string; readonly description: string }
  /** What the reference page is. */
  readonly pageDescription: string
  /** Members of `pagination` and `meta`, which every page has next to its rows. */
  readonly pagination: readonly Field[]
  readonly meta: readonly Field[]
  readonly endpoints: readonly Endpoint[]
  /** Responses that several endpoints share; `message` is an example of an error. */
  readonly responses: readonly { status: string; description: string; message: string | undefined }[]
  readonly headers: readonly { name: string; description: string }[]
}

/** Reads the content from the OpenAPI document. Throws when the document has another form. */
export function readReference(document: unknown): Reference {
  const { info, externalDocs, paths, components } = z.parse(OpenApiDocument, document)

  const endpoints = Object.entries(paths).map(([path, { get }]): Endpoint => {
    const success = z.parse(SuccessResponse, get.responses['200']).content['application/json']
    const { items } = success.schema.properties.data
    const rowName = nameOf(items)
    const row = z.parse(RowSchema, resolve(components.schemas, items))
    const fields = fieldsOf(row.properties)
    return {
      id: path.slice(path.lastIndexOf('/') + 1),
      path,
      summary: get.summary,
      description: get.description,
      parameters: (get.parameters ?? []).map((reference): Parameter => {
        const { schema, ...parameter } = resolve(components.parameters, reference)
        return { ...parameter, type: typeOf(schema).type }
      }),
      rowName,
      fields,
      primaryKey: row['x-primary-key'],
      formula: get['x-formula'],
      statuses: Object.keys(get.responses),
      example: exampleOf(success.example, fields),
    }
  })

  return {
    ...info,
    authentication: components.securitySchemes.ApiKey,
    pageDescription: externalDocs.description,
    pagination: fieldsOf(components.schemas.Pagination.properties),
    meta: fieldsOf(components.schemas.Meta.properties),
    endpoints,
    responses: Object.entries(components.responses).map(([status, { description, content }]) => ({
      status,
      description,
      message: content?.['application/json'].example.error,
    })),
    headers: Object.entries(components.headers).map(([name, { description }]) => ({ name, description })),
  }
}

/** Formats an example like the service: parsing the document removed the trailing zeros of rates and weights. */
function exampleOf(example: unknown, fields: readonly Field[]): string {
  const names = fields.filter(({ type }) => type === 'number').map(({ name }) => name)
  const number = new RegExp(`("(?:${names.join('|')})": )([0-9.]+)`, 'g')
  const text = JSON.stringify(example, null, 2)
  if (names.length === 0) return text
  return text.replace(number, (_, name: string, value: string) => name + Number(value).toFixed(4))
}

const nameOf = ({ $ref }: { $ref: string }): string => $ref.slice($ref.lastIndexOf('/') + 1)

function resolve<Part>(parts: Readonly<Record<string, Part>>, reference: { $ref: string }): Part {
  const part = parts[nameOf(reference)]
  if (part === undefined) throw new Error(`The document has no ${reference.$ref}`)
  return part
}

const fieldsOf = (properties: Readonly<Record<string, z.infer<typeof Schema>>>): Field[] =>
  Object.entries(properties).map(([name, schema]) => ({ name, ...typeOf(schema) }))

function typeOf(schema: z.infer<typeof Schema>): Omit<Field, 'name'> {
  const { type, format, description = '', 'x-aggregation': aggregation } = schema
  const [name, other] = typeof type === 'string' ? [type] : type
  return { type: format ?? name, nullable: other === 'null', description, additive: aggregation === 'sum' }
}
