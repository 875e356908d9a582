import { pgSchema } from 'drizzle-orm/pg-core'

/** One view per metric, which defines what its numbers mean. */
export const metrics = pgSchema('metrics')
