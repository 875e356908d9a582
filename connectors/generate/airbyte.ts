import type { Column, ColumnType, Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

const TYPES: Record<ColumnType, Readonly<Record<string, unknown>>> = {
  uuid: { type: 'string' },
  text: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  json: { type: 'object', additionalProperties: true },
}

// The exact view finds the rows of a day's last fetch by it.
const CHANGED_AT: Column = {
  name: 'changed_at',
  field: 'changed_at',
  type: 'timestamp',
  nullable: false,
  description:
    '`changed_at` of the day in `/changes` before the row was read. Rows of a day with an older one are gone.',
}

function schemaOf({ type, nullable, description }: Column): string {
  const { type: name, ...rest } = TYPES[type]
  return JSON.stringify({ type: nullable ? [name, 'null'] : name, ...rest, description })
}

function streamOf(stream: Stream): string[] {
  const columns = stream.kind === 'metric' ? [...stream.columns, CHANGED_AT] : stream.columns
  return [
    `  - $ref: "#/definitions/${stream.kind}"`,
    `    name: ${stream.name}`,
    `    primary_key: [${stream.key.join(', ')}]`,
    `    $parameters: { endpoint: ${stream.endpoint} }`,
    '    schema_loader:',
    '      type: InlineSchemaLoader',
    '      schema:',
    '        type: object',
    '        properties:',
    ...columns.map((column) => `          ${column.name}: ${schemaOf(column)}`),
  ]
}

/** Writes the streams with their schemas into Airbyte's manifest. */
export const airbyte = (streams: readonly Stream[]): Generated[] => [
  {
    path: 'airbyte/source-export-api/manifest.yaml',
    block: 'streams',
    text: ['streams:', ...streams.flatMap(streamOf)].join('\n'),
  },
]
