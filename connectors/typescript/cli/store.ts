import type { AsyncBuffer } from 'hyparquet'
import type { Writer } from 'hyparquet-writer'

/** A file that a store has. Another version means that it was written again. */
export type Stored = { readonly size: number; readonly version: string }

/** A file as sync wrote it. */
export type FileState = Stored & { readonly path: string; readonly sha256: string }

/** A text, and its version in the store. */
export type StoredText = { readonly text: string; readonly version: string }

/** Where a copy is. Paths are relative and have slashes. A file is written once, under a name that was never used. */
export type Store = {
  /** Begins the paths of messages. */
  readonly location: string
  /** Whether other processes can write it meanwhile. Its readers know its files from the manifest only. */
  readonly isShared: boolean
  /** Lists the Parquet files and states. What is no file, such as a link, has the size -1. */
  readonly list: () => Promise<ReadonlyMap<string, Stored>>
  readonly open: (path: string) => Promise<AsyncBuffer>
  /** Creates a file. `write` returns the number of its rows; without rows, there is no file. */
  readonly create: (
    path: string,
    write: (writer: Writer) => Promise<number>,
  ) => Promise<FileState | undefined>
  /** Returns a text; undefined when there is none. */
  readonly readText: (path: string) => Promise<StoredText | undefined>
  readonly writeText: (path: string, text: string) => Promise<void>
  /**
   * Replaces a text that has this version; without a version, one that does not exist. Returns false when another process
   * has replaced it.
   */
  readonly replaceText: (path: string, text: string, version: string | undefined) => Promise<boolean>
  /** Removes files, and what stands in their place. */
  readonly remove: (paths: readonly string[]) => Promise<void>
  /** Runs work while no other process writes, where the store can tell. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>
}

/** Returns bytes as a file. */
export const bufferOf = (bytes: Uint8Array): AsyncBuffer => ({
  byteLength: bytes.byteLength,
  slice: (start, end) => bytes.slice(start, end).buffer,
})
