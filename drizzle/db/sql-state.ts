/** Returns the SQLSTATE of a database error or of its cause; an empty string for other errors. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : sqlState(error.cause)
}

/**
 * Whether a value caused a database error, also in a function of a mapped view: not a connection, a lock, a conflict, a
 * cancel, a lack of resources or of privileges.
 */
export const isDataError = (error: unknown): boolean =>
  /^(?!08|25|40|53|55|57|58|42501)[0-9A-Z]{5}$/.test(sqlState(error))
