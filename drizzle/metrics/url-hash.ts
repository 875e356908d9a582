import { type SQL, sql } from 'drizzle-orm'

/** Stands for a URL in keys: a URL may have 8,192 bytes, an index row only 2,704. The first half of its SHA-256. */
export const urlHash = (url: SQL): SQL =>
  sql`encode(substr(sha256(convert_to(${url}, 'UTF8')), 1, 16), 'hex')::uuid`
