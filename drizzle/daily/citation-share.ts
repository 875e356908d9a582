import { primaryKey } from 'drizzle-orm/pg-core'
import { citationShareColumns } from '../views/citation-share.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.citation_share`, keyed in the order in which pages are served. */
export const dailyCitationShare = daily.table('citation_share', citationShareColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.url_hash] }),
])
