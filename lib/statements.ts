import { sql } from 'drizzle-orm'
import { accessColumns, activeKey } from './access/scope.ts'
import { AS_OF_ALL, instant } from './page/as-of.ts'
import { renderStatement } from './render-statement.ts'

// Workers contain the values of these constants instead of this file.

/** Finds key and plan alone. */
export const accessStatement = renderStatement(sql`select ${accessColumns} from (${activeKey}) as access`)

/** Reads the time before which every change is in the responses of all brands. */
export const asOfStatement = renderStatement(sql`select ${instant(AS_OF_ALL)} as as_of`)

/** Reads how far the data of any brand lags behind. */
export const lagStatement = renderStatement(
  sql`select ceil(extract(epoch from clock_timestamp() - ${AS_OF_ALL}))::text as seconds`,
)
