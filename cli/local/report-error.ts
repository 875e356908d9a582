import { UsageError } from '../../drizzle/db/connect.ts'
import { diskRemedy } from './disk-errors.mjs'
import { OwnFolderError } from './pid-lock.mjs'
import { printError } from './print-error.mjs'

/** Prints an error that ended a command: a sentence of an expected one, all of another one. */
export function reportError(error: unknown): void {
  const message = explain(error)
  if (message === undefined) console.error(error)
  else printError(message)
}

function explain(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof UsageError || error instanceof OwnFolderError) return error.message
  const remedy = diskRemedy(error.message)
  if (remedy !== undefined) return `${error.message}. ${remedy}`
  if (error.message.startsWith('Connection terminated'))
    return 'The database closed the connection. Try again when it runs.'
  // An error that the database has returned, such as a missing privilege.
  if ('severity' in error && 'code' in error)
    return `The database returned an error: ${error.message} (${error.code}).`
  return undefined
}
