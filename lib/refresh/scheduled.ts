import type { RunStatement } from '../../drizzle/db/refresh.ts'
import { type QueryContext, run } from '../database/db.ts'

/** Milliseconds after which Postgres cancels a statement of a scheduled Worker (drizzle/sql/roles.sql). */
export const STATEMENT_TIMEOUT_MS = 40_000

/** Milliseconds after which a scheduled Worker stops waiting for a statement. */
const TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000

/** Returns what runs the statements of a scheduled Worker. Their parameters are named by their place. */
export const statementRunner =
  (context: QueryContext): RunStatement =>
  (sql, params) =>
    run(
      context,
      { sql, parameters: params.map((_, index) => String(index)) },
      Object.fromEntries(params.entries()),
      TIMEOUT_MS,
    )
