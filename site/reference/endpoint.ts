import type { Formula } from '../../lib/page/operation.ts'

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

/** Whether an endpoint returns the days of all metrics. */
export const isDays = ({ parameters }: Pick<Endpoint, 'parameters'>): boolean =>
  parameters.some(({ name }) => name === 'endpoint')

/** Whether the pages of an endpoint list the latest changes, instead of all rows of a window. */
export const listsChanges = (endpoint: Pick<Endpoint, 'parameters'>): boolean =>
  endpoint.parameters.some(({ name }) => name === 'since') && !isDays(endpoint)

/** Whether an endpoint returns a brand's rows, which do not carry the brand. */
export const isMetric = (endpoint: Pick<Endpoint, 'parameters'>): boolean =>
  isPaged(endpoint) && !listsChanges(endpoint) && !isDays(endpoint)

/** The parameter that asks for a file instead of JSON. It is not an input of the page, which has a button instead. */
export const fileParameter = ({ parameters }: Pick<Endpoint, 'parameters'>): Parameter | undefined =>
  parameters.find(({ name }) => name === 'format')
