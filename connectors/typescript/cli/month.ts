import type { Window } from './days.ts'
import type { Row } from './parquet.ts'

/** Rows in ascending order of their dates, which are taken day by day. */
export type SortedRows = {
  /** Yields the rows that are left before a day. */
  readonly before: (day: string) => AsyncGenerator<Row>
  /** Yields the rows that are left through a day. */
  readonly through: (day: string) => AsyncGenerator<Row>
  /** Yields the rows that are left. */
  readonly rest: () => AsyncGenerator<Row>
}

/** A run of days in one month. `fetch` requests their window once. */
export type Part = Window & { readonly fetch: () => Promise<SortedRows> }

export function sortedRows(rows: AsyncIterator<Row>): SortedRows {
  let next: Row | undefined
  async function* take(isTaken: (date: string) => boolean): AsyncGenerator<Row> {
    while (true) {
      next ??= (await rows.next()).value
      if (next === undefined || !isTaken(String(next.date))) return
      const row = next
      next = undefined
      yield row
    }
  }
  return {
    before: (day) => take((date) => date < day),
    through: (day) => take((date) => date <= day),
    rest: () => take(() => true),
  }
}

/** Yields the rows of a month: those of its parts as they were fetched, those of other days as they are in the copy. */
export async function* mergeMonth(old: SortedRows, parts: readonly Part[]): AsyncGenerator<Row> {
  for (const { from, to, fetch } of parts) {
    yield* old.before(from)
    await skip(old.through(to))
    const fetched = await fetch()
    // Skips days that were not listed. They are listed next time.
    await skip(fetched.before(from))
    yield* fetched.through(to)
  }
  yield* old.rest()
}

async function skip(rows: AsyncGenerator<Row>): Promise<void> {
  for await (const _ of rows);
}
