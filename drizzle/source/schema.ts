import { pgSchema } from 'drizzle-orm/pg-core'

/** Views over the application's tables, the only way in which the project reads them. */
export const source = pgSchema('export_source')
