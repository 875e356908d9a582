/** Returns the SQLSTATE of a database error or of its cause; an empty string for other errors. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : sqlState(error.cause)
}
