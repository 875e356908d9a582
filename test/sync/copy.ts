import type { Answer, Row } from '../fixtures/call.ts'

export type Query = Readonly<Record<string, string | undefined>>

/** Sends a request and returns the page. */
export type Get = (path: string, query: Query) => Promise<Pick<Answer, 'data' | 'pagination' | 'meta'>>

/** A copy of a brand's rows by endpoint and day, and the greatest `changed_at` of the changes that it has. */
export type Copy = { readonly brandId: string; readonly days: Map<string, readonly Row[]>; since?: string }

export const emptyCopy = (brandId: string): Copy => ({ brandId, days: new Map() })

/** The key of a day in a copy. */
export const dayKey = ({ endpoint, date }: Row): string => `${endpoint} ${date}`

/** Makes a copy equal what the service serves, for the price of what changed. */
export async function sync(get: Get, copy: Copy): Promise<void> {
  const { brandId, days } = copy
  for (;;) {
    const { rows: changes } = await pull(get, '/changes', { brandId, since: copy.since })
    const last = changes.at(-1)
    if (last === undefined) return
    for (const [endpoint, listed] of Map.groupBy(changes, (change) => String(change.endpoint))) {
      const dates = listed.map(({ date }) => String(date)).sort()
      const window = { fromDate: dates[0], toDate: dates.at(-1) }
      const { rows, first } = await pull(get, `/${endpoint}`, { brandId, ...window })
      for (const date of dates) {
        // Days before the window's first are beyond the plan: the copy keeps what it has.
        if (date < first) continue
        const ofDay = rows.filter((row) => row.date === date)
        days.set(dayKey({ endpoint, date }), ofDay)
      }
    }
    copy.since = String(last.changed_at)
  }
}

/** Reads all pages, and the first day that they cover. */
export async function pull(get: Get, path: string, query: Query): Promise<{ rows: Row[]; first: string }> {
  const { data, pagination, meta } = await get(path, query)
  if (pagination.nextCursor === null) return { rows: [...data], first: String(meta.fromDate).slice(0, 10) }
  const rest = await pull(get, path, { ...query, cursor: pagination.nextCursor })
  return { ...rest, rows: [...data, ...rest.rows] }
}
