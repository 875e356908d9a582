import { customType } from 'drizzle-orm/pg-core'

/** Text that sorts and compares by code point, whatever the server's locale is. */
export const textC = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
