import * as z from 'zod/mini'
import type { Endpoint, Field, Parameter } from './endpoint.ts'
import { OpenApiDocument, RowSchema, type Schema, SuccessResponse } from './openapi-schema.ts'

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
  readonly endpoints: readonly Endpoint[]
  readonly headers: readonly { name: string; description: string }[]
}

/** Reads the content from the OpenAPI document. Throws when the document has another form. */
export function readReference(document: unknown): Reference {
  const { info, externalDocs, paths, components } = z.parse(OpenApiDocument, document)

  const numbers = Object.values(components.schemas).flatMap((schema) =>
    fieldsOf(RowSchema.safeParse(schema).data?.properties ?? {}).filter(({ type }) => type === 'number'),
  )

  const endpoints = Object.entries(paths).map(([path, { get }]): Endpoint => {
    const success = z.parse(SuccessResponse, get.responses['200']).content['application/json']
    const { items } = success.schema.properties.data
    // The days of all metrics have the same fields.
    const reference = 'oneOf' in items ? items.oneOf[0] : items
    const row = z.parse(RowSchema, resolve(components.schemas, reference))
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
      rowName: nameOf(reference),
      fields,
      primaryKey: row['x-primary-key'],
      formula: get['x-formula'],
      statuses: Object.keys(get.responses),
      example: exampleOf(success.example, numbers),
    }
  })

  return {
    ...info,
    authentication: components.securitySchemes.ApiKey,
    pageDescription: externalDocs.description,
    endpoints,
    headers: Object.entries(components.headers).map(([name, { description }]) => ({ name, description })),
  }
}

/** Formats an example like the service: parsing the document removed the trailing zeros of rates and weights. */
function exampleOf(example: unknown, numbers: readonly Field[]): string {
  const number = new RegExp(`("(?:${numbers.map(({ name }) => name).join('|')})": )([0-9.]+)`, 'g')
  const text = JSON.stringify(example, null, 2)
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
  return {
    // The format of a number is its width in memory.
    type: name === 'string' ? (format ?? name) : name,
    nullable: other === 'null',
    description,
    additive: aggregation === 'sum',
  }
}
