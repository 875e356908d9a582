import { pgSchema } from 'drizzle-orm/pg-core'

/** Holds one view a metric: what each number means, over the raw tables. */
export const metrics = pgSchema('metrics')
