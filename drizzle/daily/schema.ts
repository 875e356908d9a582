import { pgSchema } from 'drizzle-orm/pg-core'

/** The stored daily rows of each metric, under the names of their views, and what keeps them up to date. */
export const daily = pgSchema('daily')
