import document from '../../functions/openapi.json' with { type: 'json' }
import type { Formula } from '../../lib/page/operation.ts'
import { type Endpoint, isDays, isPaged, listsChanges } from './endpoint.ts'
import { readReference } from './reference.ts'

const TYPES = {
  uuid: 'uuid',
  date: 'date',
  'date-time': 'timestamp',
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  object: 'json',
} as const

export type ColumnType = (typeof TYPES)[keyof typeof TYPES]

/** A column of a table. `name` is in snake_case; `field` is the name in the service's rows. */
export type Column = {
  readonly name: string
  readonly field: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly description: string
}

/** What a connector loads from an endpoint into a table. */
export type Stream = {
  /** Name of the table, such as `citation_share`. */
  readonly name: string
  /** Last segment of the endpoint's path, such as `citation-share`. */
  readonly endpoint: string
  readonly kind: 'brands' | 'metric' | 'changes'
  readonly title: string
  readonly description: string
  /** Names of the columns that identify a row. */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
  /** Names of the columns that `totals` of `/changes` sums. */
  readonly totals: readonly string[]
  readonly formula: Formula | null
}

// Rows of metrics do not carry it: a connector adds it.
const BRAND_ID: Column = {
  name: 'brand_id',
  field: 'brand_id',
  type: 'uuid',
  nullable: false,
  description: 'Identifier of the brand.',
}

const toSnakeCase = (name: string): string =>
  name.replaceAll('-', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const isKnown = (type: string): type is keyof typeof TYPES => type in TYPES

function typeOf(type: string): ColumnType {
  if (!isKnown(type)) throw new Error(`The connectors have no column type for ${type}.`)
  return TYPES[type]
}

function kindOf(endpoint: Endpoint): Stream['kind'] {
  if (!isPaged(endpoint)) return 'brands'
  return listsChanges(endpoint) ? 'changes' : 'metric'
}

function streamOf(endpoint: Endpoint): Stream {
  const kind = kindOf(endpoint)
  const columns = endpoint.fields.map(
    ({ name, type, nullable, description }): Column => ({
      name: toSnakeCase(name),
      field: name,
      type: typeOf(type),
      nullable,
      description,
    }),
  )
  const perBrand = kind === 'metric' ? [BRAND_ID] : []
  return {
    name: toSnakeCase(endpoint.id),
    endpoint: endpoint.id,
    kind,
    title: endpoint.summary,
    description: endpoint.description,
    key: [...perBrand.map(({ name }) => name), ...endpoint.primaryKey.map(toSnakeCase)],
    columns: [...perBrand, ...columns],
    totals: kind === 'metric' ? endpoint.fields.flatMap((field) => (field.additive ? field.name : [])) : [],
    formula: endpoint.formula ?? null,
  }
}

/** Returns the streams of all connectors, as the OpenAPI document describes the endpoints: days have the rows of metrics. */
export const readStreams = (): Stream[] =>
  readReference(document)
    .endpoints.filter((endpoint) => !isDays(endpoint))
    .map(streamOf)
