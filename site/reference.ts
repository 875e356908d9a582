import * as z from 'zod/mini'
import type { Formula } from '../lib/operation.ts'
import { Answer, Document, Row, type Schema } from './document.ts'

/** A field of a row: its type is its format where it has one, else JSON's name. */
export type Field = {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly description: string
}

export type Parameter = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
}

/** One endpoint, as the page shows it and as its code samples need it. */
export type Endpoint = {
  /** The last part of its path: its anchor, its form and its samples' files are named after it. */
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly rowName: string
  readonly fields: readonly Field[]
  readonly formula: Formula | undefined
  readonly statuses: readonly string[]
  readonly example: string
}

/** Whether an endpoint answers in pages. */
export const isPaged = ({ parameters }: Pick<Endpoint, 'parameters'>): boolean =>
  parameters.some(({ name }) => name === 'cursor')

export type HttpError = {
  readonly status: string
  readonly description: string
  readonly sentence: string | undefined
  readonly retries: boolean
}

/** What the page shows, read from the OpenAPI document. */
export type Reference = {
  readonly title: string
  readonly version: string
  readonly summary: string
  readonly description: string
  readonly endpoints: readonly Endpoint[]
  readonly refusals: readonly HttpError[]
  readonly headers: readonly { readonly name: string; readonly description: string }[]
}

/** Reads the OpenAPI document; throws where it is not as this project writes it. */
export function readReference(text: unknown): Reference {
  const { info, paths, components } = z.parse(Document, text)

  const endpoints = Object.entries(paths).map(([path, { get }]): Endpoint => {
    const answer = z.parse(Answer, get.responses['200']).content['application/json']
    const { items } = answer.schema.properties.data
    const rowName = nameOf(items)
    const row = z.parse(Row, of(components.schemas, items))
    const fields = Object.entries(row.properties).map(([name, schema]) => ({ name, ...typeOf(schema) }))
    return {
      id: path.slice(path.lastIndexOf('/') + 1),
      path,
      summary: get.summary,
      description: get.description,
      parameters: (get.parameters ?? []).map((reference): Parameter => {
        const { name, required, description, schema } = of(components.parameters, reference)
        return { ...typeOf(schema), name, required, description }
      }),
      rowName,
      fields,
      formula: get['x-formula'],
      statuses: Object.keys(get.responses),
      example: exampleOf(answer.example, fields),
    }
  })

  return {
    ...info,
    endpoints,
    refusals: Object.entries(components.responses).map(([status, { description, headers, content }]) => ({
      status,
      description,
      sentence: content?.['application/json'].example.error,
      retries: 'Retry-After' in headers,
    })),
    headers: Object.entries(components.headers).map(([name, { description }]) => ({ name, description })),
  }
}

/** An example as the service writes it: numbers that are no counts have four decimals, which JSON's reader took off. */
function exampleOf(example: unknown, fields: readonly Field[]): string {
  const names = fields.filter(({ type }) => type === 'number').map(({ name }) => name)
  const number = new RegExp(`("(?:${names.join('|')})": )([0-9.]+)`, 'g')
  const text = JSON.stringify(example, null, 2)
  if (names.length === 0) return text
  return text.replace(number, (_, name: string, value: string) => name + Number(value).toFixed(4))
}

const nameOf = ({ $ref }: { $ref: string }): string => $ref.slice($ref.lastIndexOf('/') + 1)

function of<Part>(parts: Readonly<Record<string, Part>>, reference: { $ref: string }): Part {
  const part = parts[nameOf(reference)]
  if (part === undefined) throw new Error(`The document has no ${reference.$ref}`)
  return part
}

function typeOf(schema: z.infer<typeof Schema>): Pick<Field, 'type' | 'nullable' | 'description'> {
  const {
    type = 'string',
    format,
    description,
  } = schema.anyOf?.find((each) => each.type !== 'null') ?? schema
  return {
    type: format ?? type,
    nullable: schema.anyOf !== undefined,
    description: description ?? schema.description ?? '',
  }
}
