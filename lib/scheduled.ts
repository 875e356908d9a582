import type { RunStatement } from '../drizzle/db/refresh.ts'
import { type QueryContext, run } from './db.ts'

/** Milliseconds that one statement of a scheduled Worker may take. Longer ones are for the commands. */
export const TIMEOUT_MS = 40_000

/** Returns what runs the statements of a scheduled Worker. */
export const statementRunner =
  (context: QueryContext): RunStatement =>
  (sql, params) =>
    run(context, { sql, params: [...params] }, {}, TIMEOUT_MS)
