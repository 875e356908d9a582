import { randomUUID } from 'node:crypto'
import type { AsyncBuffer } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'
import { CommandError } from './errors.ts'

/** A file that a store has. `modified` is in milliseconds since 1970. */
export type Stored = { readonly size: number; readonly modified: number }

/** A file as it was written. */
export type Written = { readonly size: number; readonly sha256: string }

/** Where a copy is. Paths are relative and have slashes. */
export type Store = {
  /** Begins the paths of messages. */
  readonly location: string
  /**
   * Lists the files of a folder whose names sort after another, by name. The names of folders in it end in a slash. What is
   * no file, such as a link, has the size -1.
   */
  readonly list: (folder: string, after?: string) => Promise<ReadonlyMap<string, Stored>>
  /** Returns the bytes of a file; undefined when there is none. */
  readonly read: (path: string) => Promise<Buffer | undefined>
  /** Opens a file. Throws `CommandError` when there is none. */
  readonly open: (path: string) => Promise<AsyncBuffer>
  /** Writes a file under a name that was never used. A write that fails leaves none. */
  readonly create: (path: string, write: (writer: Writer) => Promise<void>) => Promise<Written>
  /** Creates a file as a whole. Returns false when it exists. */
  readonly createIfAbsent: (path: string, text: string) => Promise<boolean>
  /** Creates or replaces a file as a whole. */
  readonly replace: (path: string, content: string | Uint8Array<ArrayBuffer>) => Promise<void>
  /** Of a folder, the files are gone when it returns the promise. */
  readonly remove: (paths: readonly string[]) => Promise<void>
  /** Returns the time of the clock by which files of a folder are `modified`. It is not that of this machine. */
  readonly now: (folder: string) => Promise<number>
}

/** Returns a name for a file of a table that has no other one. */
export const newFile = (): string => `export-api-${randomUUID()}.parquet`

/** Whether sync has written a file, or was about to. */
export const isOwnFile = (name: string): boolean => /^\.?export-api-[-0-9a-f]{36}\.parquet$/.test(name)

/** Returns a path. Throws `CommandError` for one that would leave its folder or prefix. */
export function insidePath(path: string): string {
  const isInside = path.split('/').every((name) => !/^\.{0,2}$|[\\:\0]/.test(name))
  if (isInside) return path
  throw new CommandError(`The copy names the file ${path}, which would be outside of it.`)
}
