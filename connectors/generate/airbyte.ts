import document from '../../functions/openapi.json' with { type: 'json' }
import { type Field, isDays } from '../../site/reference/endpoint.ts'
import { readReference } from '../../site/reference/reference.ts'
import type { Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

/** The JSON schemas of fields whose type is not its own schema. */
const SCHEMAS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  uuid: { type: 'string' },
  text: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  'date-time': { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  object: { type: 'object', additionalProperties: true },
  array: { type: 'array', items: { type: 'object', additionalProperties: true } },
}

function schemaOf({ type, nullable, description }: Omit<Field, 'additive'>): string {
  const { type: name, ...rest } = SCHEMAS[type] ?? { type }
  return JSON.stringify({ type: nullable ? [name, 'null'] : name, ...rest, description })
}

/** The fields of a day. */
export const dayFields: readonly Field[] = readReference(document).endpoints.find(isDays)?.fields ?? []

const propertiesOf = (fields: readonly Omit<Field, 'additive'>[]): string =>
  fields.map((field) => `          ${field.name}: ${schemaOf(field)}`).join('\n')

/** Writes the schemas of brands and days, and the streams, into Airbyte's manifest. */
export function airbyte(streams: readonly Stream[]): Generated[] {
  const path = 'airbyte/source-export-api/manifest.yaml'
  const brands = streams.find(({ kind }) => kind === 'brands')?.columns ?? []
  const names = streams.flatMap(({ kind, name, endpoint }) =>
    kind === 'metric'
      ? `  - { $ref: "#/definitions/days", name: ${name}, $parameters: { resource: days, endpoint: ${endpoint} } }`
      : [],
  )
  return [
    { path, block: 'brands', text: propertiesOf(brands) },
    { path, block: 'days', text: propertiesOf(dayFields) },
    { path, block: 'streams', text: names.join('\n') },
  ]
}
