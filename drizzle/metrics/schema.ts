import { pgSchema } from 'drizzle-orm/pg-core'

/** One view per metric, which defines what its numbers mean. */
export const metrics = pgSchema('metrics')

/** The stored rows of each metric, under the names of their views, and what keeps them up to date. */
export const daily = pgSchema('daily')
