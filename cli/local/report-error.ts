import { UsageError } from '../../drizzle/db/connect.ts'
import { diskRemedy } from './disk-errors.mjs'
import { escapeControls } from './escape-controls.ts'
import { OwnFolderError } from './pid-lock.mjs'
import { printError } from './print-error.mjs'

/** Prints an error that ended a command: a sentence of an expected one, all of another one. */
export function reportError(error: unknown): void {
  const message = explain(error)
  if (message === undefined) console.error(error)
  else printError(message)
}

/** What Postgres says under `row_security = off`. It names the table. */
const HIDDEN_ROWS = /would be affected by row-level security/

/** What pg and the operating system say of a connection that broke. */
const LOST = /^(Connection terminated|Client (has encountered|was closed))|\b(ECONNRESET|EPIPE|ETIMEDOUT)\b/

function explain(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof UsageError || error instanceof OwnFolderError) return error.message
  // The message of Drizzle's own error has the statement and its parameters.
  const reason = explain(error.cause)
  if (reason !== undefined) return reason
  // An error that the database has returned, such as a missing privilege. Its message can quote data.
  if ('severity' in error && 'code' in error) {
    const remedy = HIDDEN_ROWS.test(error.message)
      ? ' Grant BYPASSRLS to the role that owns the views of export_source.'
      : ''
    const hint = 'hint' in error && error.hint ? ` ${error.hint}` : remedy
    const sentence = `The database returned an error: ${error.message} (${error.code}).${hint}`
    return escapeControls(sentence.replaceAll('\n', ' '))
  }
  if (LOST.test(error.message)) return 'The database closed the connection. Try again when it runs.'
  const remedy = diskRemedy(error.message)
  if (remedy !== undefined) return `${error.message}. ${remedy}`
  return 'syscall' in error ? `${error.message}.` : undefined
}
