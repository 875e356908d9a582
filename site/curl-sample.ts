import { type Endpoint, isDays } from './reference/endpoint.ts'

/** The request that a code sample sends. */
export type SampleRequest = {
  /** Scheme and host of the service. */
  readonly origin: string
  readonly endpoint: Endpoint
  /** Values of the form by parameter, without empty ones and without the cursor. */
  readonly query: Readonly<Record<string, string>>
}

/** The `User-Agent` of the samples. */
export const USER_AGENT = 'my-warehouse/1.0'

/** Why a program sends its key in `Authorization`, too. */
export const RATE_LIMIT_COMMENT = 'Gives the key a rate limit of its own.'

/** Returns the parameters of a sample: those that are set, and placeholders for required ones. */
export function parametersOf({ endpoint, query }: SampleRequest): [name: string, value: string][] {
  return endpoint.parameters.flatMap(({ name, required }): [string, string][] => {
    const value = query[name] || (required ? 'BRAND_ID' : '')
    return value === '' ? [] : [[name, value]]
  })
}

/** Returns the address of the first page. The encoding leaves no quote in it. */
export function addressOf(request: SampleRequest): string {
  const query = new URLSearchParams(parametersOf(request)).toString()
  return request.origin + request.endpoint.path + (query && `?${query}`)
}

/** Returns the address of all rows as one file; of days, which have no file, that of the first page. */
export const fileOf = ({ query, ...request }: SampleRequest, format: string): string =>
  addressOf({ ...request, query: isDays(request.endpoint) ? query : { ...query, format } })

/** Writes a command that prints all rows of a window, or the first page of days. */
export function curl(request: SampleRequest): string {
  return `# Requires curl 7.76 or later. Prints ${isDays(request.endpoint) ? 'the first page' : 'a row a line'}.
# Set the key first: export EXPORT_API_KEY=svc_live_…
# Authorization: ${RATE_LIMIT_COMMENT}
curl -sS --fail-with-body --compressed \\
  '${fileOf(request, 'ndjson')}' \\
  -H "X-API-Key: \${EXPORT_API_KEY:?Set it to your API key.}" \\
  -H "Authorization: Bearer $EXPORT_API_KEY" -A '${USER_AGENT}'`
}
