import { customType } from 'drizzle-orm/pg-core'

/** A transaction's id. */
export const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })
