/** The SQLSTATE of an error of the database, or of what it was caused by; empty for any other. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : sqlState(error.cause)
}
