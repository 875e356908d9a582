import { UsageError } from '../drizzle/db/connect.ts'
import { DEMO } from '../drizzle/seed/demo.ts'
import { color } from './log-line.ts'

/** Lists the demo keys, each on a line of its own. Throws `UsageError` when another database is served. */
export function printKeys(): void {
  if (process.env.DATABASE_URL)
    throw new UsageError(
      '--keys lists the keys of the demo, and DATABASE_URL names another database. Its keys: npm run keys -- list.',
    )
  for (const { label, key, note } of DEMO.keys) console.log(`${color('bold', label)}: ${note}\n  ${key}`)
}
