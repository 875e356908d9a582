import { pgSchema } from 'drizzle-orm/pg-core'

/** Holds the stored daily rows of each metric, under the names of their views. */
export const daily = pgSchema('daily')
