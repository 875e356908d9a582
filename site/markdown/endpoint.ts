import type { Endpoint, Field } from '../reference/endpoint.ts'
import { block, code, prose, table } from './syntax.ts'

/** Writes the section of an endpoint. */
export function endpointSection(endpoint: Endpoint): string {
  const { id, path, summary, description, fields, example } = endpoint
  return [
    `### /${id}`,
    `${prose(summary)}: ${code(`GET ${path}`)}`,
    prose(description),
    facts(endpoint),
    table(
      ['Field', 'Type', '`x-aggregation`', 'Description'],
      fields.map((field) => [
        code(field.name),
        typeName(field),
        field.additive ? 'sum' : '',
        prose(field.description),
      ]),
    ),
    block('json', firstRow(example)),
  ].join('\n\n')
}

function facts({ parameters, primaryKey }: Endpoint): string {
  const names = parameters.map(({ name, required }) => code(name) + (required ? ' (required)' : ''))
  return `- Parameters: ${names.join(', ')}
- Primary key (\`x-primary-key\`): ${primaryKey.map(code).join(', ')}`
}

/** Names the type of a field. */
const typeName = ({ type, nullable }: Field): string => (nullable ? `${type} or null` : type)

/** Writes an example response with each row, and each member after the rows, in one line. */
export const compact = (example: string): string =>
  example.replace(/\n( {5,}| {4}(?=[^ {])| {2}(?=\}))/g, ' ')

/** Returns the first row of an example response, in one line. */
const firstRow = (example: string): string => /^ {4}(\{.*\}),?$/m.exec(compact(example))?.[1] ?? ''
