import { type Abortable, follow } from './pages.ts'
import type { Query, Send } from './send.ts'
import type { Day } from './types.ts'

/** What to read of the days. Send the same with a cursor as in the request that returned it. */
export type DaysQuery = {
  /** The `cursor` of the page that you stored last. Default: every day. */
  readonly cursor?: string | undefined
  /** Only the days of a metric. */
  readonly endpoint?: Day['endpoint'] | undefined
  /** Only the days of a brand. Default: every brand that the key reads. */
  readonly brandId?: string | undefined
  /** The first day, `YYYY-MM-DD`. Default: as far back as the plan reaches. */
  readonly fromDate?: string | undefined
}

/** Whole days, in the order in which to store them. */
export type DaysPage = {
  /** Replace the rows of each day with `offset` 0 by its `rows`, and append those of the others. */
  readonly days: readonly Day[]
  /** Store it in the transaction of the days. It never expires. */
  readonly cursor: string
  /** Whether another page follows. */
  readonly hasMore: boolean
  /** The first day that the plan and `fromDate` reach. */
  readonly fromDate: string
  /** `X-Data-As-Of`: every change that was committed before it is sent by the end of the run; null before the first refresh. */
  readonly asOf: string | null
  /** `X-Request-Id`. Quote it when you report a problem. */
  readonly requestId: string | null
}

/** Yields pages of the days that changed since a cursor, until there are no more. */
export async function* readDays(
  send: Send,
  { signal, cursor, ...query }: DaysQuery & Abortable,
): AsyncGenerator<DaysPage, void, undefined> {
  const first: Query = { cursor }
  for await (const { headers, body } of follow<Day>({ send, path: '/days', query, first, signal }))
    yield {
      days: body.data,
      cursor: body.pagination.nextCursor ?? '',
      hasMore: body.pagination.hasMore,
      fromDate: body.meta.fromDate.slice(0, 10),
      asOf: headers.get('X-Data-As-Of'),
      requestId: headers.get('X-Request-Id'),
    }
}
