import { ExportApiError } from './errors.ts'
import type { JsonResponse } from './request.ts'
import type { Query, Send } from './send.ts'
import type { Meta, Pagination } from './types.ts'

export type Abortable = {
  /** Stops requests and waits. The iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A page of the rows of a window. */
export type Page<Row> = {
  readonly rows: readonly Row[]
  readonly meta: Meta
  /** Every change that was committed before this time is in the rows (`X-Data-As-Of`); null before the first refresh. */
  readonly asOf: string | null
  /** Identifies the brands that the key could read (`X-Brands-Digest`); null for a page of one brand. */
  readonly brandsDigest: string | null
  /** `X-Request-Id`. Quote it when you report a problem. */
  readonly requestId: string | null
  readonly hasMore: boolean
}

/** Requests a window page by page, as the consumer asks for rows. Yields no part of a page that is not complete. */
export type Endpoint<Row, Window> = {
  (window: Window & Abortable): AsyncGenerator<Row, void, undefined>
  /** Yields whole pages, with what the service says about each. */
  readonly pages: (window: Window & Abortable) => AsyncGenerator<Page<Row>, void, undefined>
}

type Body<Row> = {
  readonly data: readonly Row[]
  readonly pagination: Pagination
  readonly meta: Meta
}

const isComplete = ({ data, pagination, meta }: Body<unknown>): boolean =>
  Array.isArray(data) &&
  typeof meta?.fromDate === 'string' &&
  (pagination?.nextCursor === null || typeof pagination?.nextCursor === 'string')

/** So many pages without a row in a row lead nowhere. */
const MOST_EMPTY = 100
const MOST_PAGES = 100_000

type Pages = Abortable & {
  readonly send: Send
  readonly path: string
  readonly query: Query
  /** Parameters of the first page in place of a cursor. */
  readonly first?: Query
}

/** Yields the pages of a path while there are more. Throws `ExportApiError` when they do not end. */
export async function* follow<Row>({
  send,
  path,
  query,
  first,
  signal,
}: Pages): AsyncGenerator<JsonResponse<Body<Row>>, void, undefined> {
  let next: Query = first ?? {}
  let empty = 0
  for (let count = 1; ; count += 1) {
    const page = await send<Body<Row>>({ path, query: { ...query, ...next }, signal, isComplete })
    const { data, pagination } = page.body
    const cursor = pagination.hasMore === false ? null : pagination.nextCursor
    empty = data.length > 0 ? 0 : empty + 1
    if (empty === MOST_EMPTY || (cursor !== null && (cursor === next.cursor || count === MOST_PAGES)))
      throw new ExportApiError(`The pages of ${path} do not end. Check baseUrl.`, {})
    yield page
    if (cursor === null) return
    next = { cursor }
  }
}

/** Returns an endpoint of a window. `toRow` converts each row of the service. */
export function endpoint<Sent, Row, Window extends Query>(
  send: Send,
  path: string,
  toRow: (sent: Sent) => Row,
): Endpoint<Row, Window> {
  async function* pages({
    signal,
    ...query
  }: Window & Abortable): AsyncGenerator<Page<Row>, void, undefined> {
    for await (const { headers, body } of follow<Sent>({ send, path, query, signal }))
      yield {
        rows: body.data.map(toRow),
        meta: body.meta,
        asOf: headers.get('X-Data-As-Of'),
        brandsDigest: headers.get('X-Brands-Digest'),
        requestId: headers.get('X-Request-Id'),
        hasMore: body.pagination.hasMore,
      }
  }
  async function* rows(window: Window & Abortable): AsyncGenerator<Row, void, undefined> {
    for await (const page of pages(window)) yield* page.rows
  }
  return Object.assign(rows, { pages })
}
