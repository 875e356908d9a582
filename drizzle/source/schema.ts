import { pgSchema } from 'drizzle-orm/pg-core'

/** Holds one view a table of the application: all that is read of it, under the names that the project uses. */
export const source = pgSchema('export_source')
