import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { responseValidator } from '../../lib/openapi/response-validator.ts'

const demandConformity = responseValidator(document)

export type Row = Readonly<Record<string, string | number | boolean | null>>

/** An answer as the tests look at it: the body both as it was written and as JSON. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly data: readonly Row[]
  readonly pagination: {
    readonly pageSize: number
    readonly hasMore: boolean
    readonly nextCursor: string | null
  }
  readonly meta: Readonly<Record<string, string>>
  readonly error: string
}

export type Call = {
  /** Where the service is; that of the whole run when left out. */
  readonly service?: string
  readonly key?: string | undefined
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

/** For a connection of its own: one that is used again after a pause may be closed by the server at that moment. */
export const FRESH = { Connection: 'close' }

/** Sends a request as a client with its own rate budget, and checks the response against the OpenAPI document. */
export async function call(
  path: string,
  { service = inject('serviceUrl'), key, query = {}, headers = {}, method = 'GET' }: Call = {},
): Promise<Answer> {
  const url = new URL(`/api/export/v1${path}`, service)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value)
  const response = await fetch(url, {
    method,
    headers: { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }), ...headers },
  })
  const text = await response.text()
  const body = text === '' ? undefined : JSON.parse(text)
  if (body !== undefined) {
    demandConformity({
      path: url.pathname,
      status: String(response.status),
      headers: response.headers,
      body,
    })
  }
  return { ...body, status: response.status, headers: response.headers, text }
}

/** Follows `nextCursor` to the end, from the first page or from `query.cursor`, and returns the rows of all pages. */
export async function pull(path: string, options: Call): Promise<Row[]> {
  const rows: Row[] = []
  let cursor = options.query?.cursor
  do {
    const page = await call(path, { ...options, query: { ...options.query, cursor } })
    if (page.status !== 200) throw new Error(`${path} answered ${page.status}: ${page.text}`)
    rows.push(...page.data)
    cursor = page.pagination.nextCursor ?? undefined
  } while (cursor !== undefined)
  return rows
}
