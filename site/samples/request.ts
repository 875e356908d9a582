import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'

/** The request that a code sample sends. */
export type SampleRequest = {
  /** Scheme and host of the service. */
  readonly origin: string
  readonly endpoint: Endpoint
  /** Values of the form by parameter, without empty ones and without the cursor. */
  readonly query: Readonly<Record<string, string>>
}

/** The `User-Agent` of the samples, with what a reader should know about it. */
export const USER_AGENT = {
  value: 'my-warehouse/1.0',
  comment: 'Use your own: equal names behind one address share the rate limit.',
} as const

/** Value of a required parameter that is not set. */
const PLACEHOLDER = 'BRAND_ID'

/** Returns the parameters of a sample: those that are set, and placeholders for required ones. */
export function parametersOf({ endpoint, query }: SampleRequest): [name: string, value: string][] {
  return endpoint.parameters.flatMap(({ name, required }): [string, string][] => {
    const value = query[name] || (required ? PLACEHOLDER : '')
    return value === '' ? [] : [[name, value]]
  })
}

/** Returns the address of the first page. */
export function addressOf(request: SampleRequest): string {
  const query = new URLSearchParams(parametersOf(request)).toString()
  return request.origin + request.endpoint.path + (query && `?${query}`)
}

/** Returns what a sample does with its rows, as lines that start with the mark of a comment. */
export function storingComment(endpoint: Endpoint, mark: string): string {
  const lines = !isPaged(endpoint)
    ? ['Replace all brands.']
    : listsChanges(endpoint)
      ? [
          'Store the latest change of each day. Next, request the listed days',
          'from their endpoints and replace them whole. Then keep the greatest',
          'changed_at as the next since.',
        ]
      : ['Replace the days of the window at once.', 'Rows that the service no longer has disappear.']
  return lines.map((line) => `${mark} ${line}`).join('\n')
}

/** Returns the name of the table that a sample stores an endpoint's rows in. */
export const tableOf = ({ id }: Endpoint): string => id.replaceAll('-', '_')
