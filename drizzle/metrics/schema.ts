import { type SQL, sql } from 'drizzle-orm'
import { customType, pgSchema } from 'drizzle-orm/pg-core'

/** One view per metric, which defines what its numbers mean. */
export const metrics = pgSchema('metrics')

/** The stored rows of each metric, under the names of their views, and what keeps them up to date. */
export const daily = pgSchema('daily')

/** Text that sorts and compares by code point, whatever the server's locale is. */
export const textC = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })

/** Stands for a URL in keys: a URL may have 8,192 bytes, an index row only 2,704. The first half of its SHA-256. */
export const urlHash = (url: SQL): SQL =>
  sql`encode(substr(sha256(convert_to(${url}, 'UTF8')), 1, 16), 'hex')::uuid`
