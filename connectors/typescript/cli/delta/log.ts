import { CommandError } from '../errors.ts'

/** A data file of a table. `path` is relative to the table. `size` is in bytes, `modificationTime` in milliseconds. */
export type AddFile = {
  readonly path: string
  readonly size: number
  readonly modificationTime: number
  readonly dataChange: boolean
  readonly partitionValues: Readonly<Record<string, string>>
  readonly stats?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
}

type RemoveFile = {
  readonly path: string
  readonly deletionTimestamp: number
  readonly dataChange: boolean
}

type MetaData = {
  readonly id: string
  readonly format: { readonly provider: string; readonly options: Readonly<Record<string, string>> }
  readonly schemaString: string
  readonly partitionColumns: readonly string[]
  readonly configuration: Readonly<Record<string, string>>
  readonly createdTime: number
}

type Protocol = { readonly minReaderVersion: number; readonly minWriterVersion: number }

/** An entry of a log has actions, one a line: https://github.com/delta-io/delta/blob/master/PROTOCOL.md. */
export type Action = {
  readonly add?: AddFile
  readonly remove?: RemoveFile
  readonly metaData?: MetaData
  readonly protocol?: Protocol
  readonly commitInfo?: Readonly<Record<string, unknown>>
}

/** A version of a table: what the actions up to it say. A table that does not exist has version -1. */
export type Snapshot = {
  version: number
  metaData: MetaData | undefined
  /** By path. */
  readonly files: Map<string, AddFile>
  /** Files of earlier versions, and when they were removed. */
  readonly removed: Map<string, number>
}

export const PROTOCOL: Protocol = { minReaderVersion: 1, minWriterVersion: 2 }

export const emptySnapshot = (): Snapshot => ({
  version: -1,
  metaData: undefined,
  files: new Map(),
  removed: new Map(),
})

/** Applies the actions of an entry or checkpoint. Throws `CommandError` for a table that this version cannot write. */
export function apply(snapshot: Snapshot, actions: readonly Action[]): void {
  for (const { add, remove, metaData, protocol } of actions) {
    if (add) {
      const path = decodeURI(add.path)
      snapshot.files.set(path, { ...add, path })
      snapshot.removed.delete(path)
    }
    if (remove) {
      const path = decodeURI(remove.path)
      snapshot.files.delete(path)
      snapshot.removed.set(path, remove.deletionTimestamp)
    }
    if (metaData) snapshot.metaData = metaData
    if (metaData?.partitionColumns.length || (protocol && !canWrite(protocol)))
      throw new CommandError('Another program has changed the table, so that sync cannot write it.')
  }
}

const canWrite = ({ minReaderVersion, minWriterVersion }: Protocol): boolean =>
  minReaderVersion <= PROTOCOL.minReaderVersion && minWriterVersion <= PROTOCOL.minWriterVersion

/** Returns the names of the columns of a table. */
export const columnNames = ({ metaData }: Snapshot): string[] =>
  JSON.parse(metaData?.schemaString ?? '{"fields":[]}').fields.map(({ name }: { name: string }) => name)

/** Returns the name of a version in the log, without its suffix. */
export const versionName = (version: number): string => String(version).padStart(20, '0')

export const formatEntry = (actions: readonly Action[]): string =>
  actions.map((action) => `${JSON.stringify(action)}\n`).join('')

/** Parses an entry. Throws when it is damaged. */
export const parseEntry = (text: string): Action[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
