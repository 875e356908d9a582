import { UsageError } from './connect.ts'
import { diskRemedy } from './disk-errors.mjs'

/** Returns the sentence of an expected error of a command; undefined for another one, of which all should be printed. */
export function explainError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof UsageError) return error.message
  const remedy = diskRemedy(error.message)
  if (remedy !== undefined) return `${error.message}. ${remedy}`
  // An error that the database has answered, such as a missing privilege.
  if ('severity' in error && 'code' in error)
    return `The database returned an error: ${error.message} (${error.code}).`
  return undefined
}
