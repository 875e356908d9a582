import * as z from 'zod/mini'
import type { Operation } from '../../../lib/page/operation.ts'
import { type Json, jsonSchema } from './json-schema.ts'

/** An operation, and the name under which its file exports the schema of its row. */
export type NamedOperation = Operation & { readonly rowName: string }

type DaysOperation = Pick<Operation, 'row' | 'primaryKey'>

/** Returns the name of an endpoint: the last segment of its path. */
export const endpointName = ({ path }: Pick<Operation, 'path'>): string => path.slice(1)

const schemaPath = (name: string): string => `#/components/schemas/${name}`

/** Returns the name of the schema of a metric's days: `CitationShareDay`. */
const dayName = (metric: NamedOperation): string =>
  `${endpointName(metric).replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Day`

/** Returns the schema of the days of each metric, by its name. */
export const daySchemas = (days: DaysOperation, metrics: readonly NamedOperation[]): Record<string, Json> =>
  Object.fromEntries(metrics.map((metric) => [dayName(metric), daySchema(days, metric)]))

/** Returns the fields of a day, with the name of its endpoint, and then its rows. */
function daySchema({ row, primaryKey }: DaysOperation, metric: NamedOperation): Json {
  const { description = '' } = z.globalRegistry.get(Object(row.shape.endpoint)) ?? {}
  const name = z.enum([endpointName(metric)]).check(z.meta({ description }))
  const { properties, ...schema } = jsonSchema(z.extend(row, { endpoint: name }))
  const rows: Json = {
    type: 'array',
    items: { $ref: schemaPath(metric.rowName) },
    description: 'Rows of the day, as its endpoint sends them. Empty when the day has emptied.',
  }
  return {
    ...schema,
    properties: { ...Object(properties), rows },
    required: [...Object.keys(row.shape), 'rows'],
    'x-primary-key': primaryKey,
  }
}

/** Returns the schema of a day of any metric. */
export const anyDay = (metrics: readonly NamedOperation[]): Json => ({
  oneOf: metrics.map((metric) => ({ $ref: schemaPath(dayName(metric)) })),
  discriminator: {
    propertyName: 'endpoint',
    mapping: Object.fromEntries(metrics.map((metric) => [endpointName(metric), schemaPath(dayName(metric))])),
  },
})
