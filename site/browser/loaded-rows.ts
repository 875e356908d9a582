import type { Row } from '../charts/sums.ts'

/** A page of rows, and the cursor of the page after it: null on the last page. */
export type LoadedPage = { readonly rows: readonly Row[]; readonly next: string | null }

/** The rows of one page, and of the pages that were loaded after it. */
export type LoadedRows = LoadedPage & { readonly startsMidway: boolean }

/** Adds a page to the rows that it follows. Any other page starts again. */
export function addPage(loaded: LoadedRows | undefined, cursor: string, page: LoadedPage): LoadedRows {
  if (loaded?.next !== cursor) return { ...page, startsMidway: cursor !== '' }
  return { ...loaded, rows: [...loaded.rows, ...page.rows], next: page.next }
}

/** Returns the rows of complete days: without a day that a page which is not loaded may begin or continue. */
export function completeDays({ rows, next, startsMidway }: LoadedRows): Row[] {
  const partial = [startsMidway ? rows[0]?.date : undefined, next === null ? undefined : rows.at(-1)?.date]
  return rows.filter(({ date }) => !partial.includes(date))
}
