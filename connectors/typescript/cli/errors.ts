/** An error whose message tells the user what to do. The command ends with its exit code. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number = 2
}

/** The command was called with wrong options, or without its key. */
export class UsageError extends CommandError {
  override name = 'UsageError'
  override readonly exitCode = 64
}

/** The command has ended as it should, and the copy is not equal to the service. */
export class DiffersError extends CommandError {
  override name = 'DiffersError'
  override readonly exitCode = 1
}

/** Whether it is an error of the operating system, such as ENOSPC. */
export const isSystemError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error

/** The bucket of the copy does not answer as it should. No brand can be stored. */
export class StoreError extends CommandError {
  override name = 'StoreError'
}
