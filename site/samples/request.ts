import type { Endpoint } from '../reference.ts'

/** The request that a sample sends: what a reader has picked so far. */
export type RequestContext = {
  /** Scheme and host of the service. */
  readonly origin: string
  readonly endpoint: Endpoint
  /** Parameters by name, without those that are left out and without a cursor. */
  readonly query: Readonly<Record<string, string>>
}

/** Stands where a required parameter has not been picked. */
export const PLACEHOLDER = 'BRAND_ID'

/** The parameters that a sample writes down: those picked, and a placeholder for each one that is required. */
export function parametersOf({ endpoint, query }: RequestContext): [name: string, value: string][] {
  return endpoint.parameters.flatMap(({ name, required }): [string, string][] => {
    const value = query[name] || (required ? PLACEHOLDER : '')
    return value === '' ? [] : [[name, value]]
  })
}

/** The address of the first page. */
export function addressOf(asked: RequestContext): string {
  const query = new URLSearchParams(parametersOf(asked)).toString()
  return asked.origin + asked.endpoint.path + (query && `?${query}`)
}
