/** The most rows that a page or part has, and the most bytes that these have as JSON. A statement returns one row more. */
export type Size = { readonly rows: number; readonly bytes: number }

/** Rows of a full page. */
export const PAGE_SIZE = 1000

/**
 * Most bytes of a page's rows as JSON, unless it has one row. Keeps the body below 4 MiB and the Worker's heap below
 * 48 MiB.
 */
export const PAGE_BYTES = 4_000_000

/** What a page reads, and a file at first. */
export const PAGE: Size = { rows: PAGE_SIZE, bytes: PAGE_BYTES }

/**
 * What a file reads at a time: more than a page, for fewer round trips. Two files of the
 * largest rows at once keep the Worker's heap below 80 MiB.
 */
export const FILE_PART: Size = { rows: 5 * PAGE_SIZE, bytes: 5_000_000 }

/** What has no bound. */
export const WHOLE: Size = { rows: 2 ** 31, bytes: 2 ** 53 }

/** The most rows of a file: what Cloudflare's limits allow by far (docs/deploy.md, Limits). */
export const MOST_ROWS = 2_000_000
