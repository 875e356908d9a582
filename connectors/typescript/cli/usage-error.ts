/** An error whose message tells the user what to do. */
export class UsageError extends Error {
  override name = 'UsageError'
}
