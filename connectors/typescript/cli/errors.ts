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

type SystemError = Error & { readonly code?: string; readonly path?: string }

/** Whether it is an error of the operating system, such as ENOSPC. */
export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && 'syscall' in error

/** Says what to do about an error of a file. Not every error names the file, but all are of a location. */
export function describeSystemError({ code = '', path, message }: SystemError, location: string): string {
  // Not the name of a file of sync's own.
  const where = path === undefined || path.startsWith(location) ? location : path
  if (['ENOSPC', 'EDQUOT'].includes(code))
    return `The disk is full: ${where} cannot be written. Free space, then run this again.`
  if (['EACCES', 'EPERM', 'EROFS'].includes(code))
    return `${where} cannot be read or written (${code}). Use a folder that this user can write to.`
  if (['ENOTDIR', 'EEXIST'].includes(code)) return `${where} is a file, or in one. Use a folder.`
  return message
}

/** The bucket of the copy does not answer as it should. No brand can be stored. */
export class StoreError extends CommandError {
  override name = 'StoreError'
}

/** The copy, or the brands of the key, have changed since the run began. It has to start over. */
export class MovedError extends CommandError {
  override name = 'MovedError'
}
