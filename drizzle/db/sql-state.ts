/** Returns the SQLSTATE of a database error or of its cause; an empty string for other errors. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : sqlState(error.cause)
}

/** Whether a value caused a database error, also in a function of a mapped view: its SQLSTATE has one of these classes. */
export const isDataError = (error: unknown): boolean => /^(21|22|23|P0)/.test(sqlState(error))
