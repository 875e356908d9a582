import { toText } from '../../reference/formula.ts'
import type { Endpoint, Field } from '../../reference/reference.ts'
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
    block('json', rowsOf(example)),
  ].join('\n\n')
}

function facts({ parameters, primaryKey, formula, statuses }: Endpoint): string {
  const names = parameters.map(({ name, required }) => code(name) + (required ? ' (required)' : ''))
  return [
    ...(names.length > 0 ? [`Parameters: ${names.join(', ')}`] : []),
    `Statuses: ${statuses.join(', ')}`,
    `Primary key (\`x-primary-key\`): ${primaryKey.map(code).join(', ')}`,
    ...(formula === undefined ? [] : [`Rate of a window: ${rate(formula)}`]),
  ]
    .map((fact) => `- ${fact}`)
    .join('\n')
}

function rate({ part, whole, per }: NonNullable<Endpoint['formula']>): string {
  const divisor = whole.length > 1 ? `(${toText(whole)})` : toText(whole)
  return `${code(`${toText(part)} / ${divisor} × 100`)}${per === undefined ? '' : `, per ${code(per)}`}`
}

/** Names the type of a field. */
export const typeName = ({ type, nullable }: Field): string => (nullable ? `${type} or null` : type)

/** Writes an example response with each row, and each member after the rows, in one line. */
export const compact = (example: string): string => example.replace(/\n( {4,}(?=[^ {])| {2}(?=\}))/g, ' ')

/** Returns the rows of an example response, each in one line. */
const rowsOf = (example: string): string =>
  [...compact(example).matchAll(/^ {4}(\{.*\}),?$/gm)].map(([, row]) => row).join('\n')
