import { randomUUID } from 'node:crypto'
import { bufferOf, type Column, deltaSchema } from '../../../../lib/parquet.ts'
import manifest from '../../package.json' with { type: 'json' }
import { CommandError, MovedError } from '../errors.ts'
import { inParallel } from '../in-parallel.ts'
import { insidePath, type Store, type Stored } from '../store.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts'
import {
  type Action,
  type AddFile,
  apply,
  columnNames,
  emptySnapshot,
  formatEntry,
  PROTOCOL,
  parseEntry,
  type Snapshot,
  versionName,
} from './log.ts'

/** A Delta table: a folder of Parquet files, and a log that says which of them are part of it. */
export type Table = {
  readonly store: Store
  /** Its folder in the store. */
  readonly name: string
  readonly columns: readonly Column[]
  /** The latest version that is known. */
  readonly snapshot: Snapshot
  /** The files that were in its folder when it was opened, by name. */
  readonly listed: ReadonlyMap<string, Stored>
}

const PARALLEL = 16
const CHECKPOINT_EVERY = 100

/** Opens the latest version of a table. Throws `CommandError` when its log is damaged, or a later version's. */
export async function openTable(
  store: Store,
  { name, columns }: Pick<Table, 'name' | 'columns'>,
): Promise<Table> {
  const snapshot = await readSnapshot(store, name).catch((error) => {
    // Only what this file throws: a store names its files.
    if (!(error instanceof CommandError && error.constructor === CommandError)) throw error
    throw new CommandError(`${store.location}/${name}: ${error.message} ${RESTORE}`, { cause: error })
  })
  // Afterwards: it then has all files of the version.
  const listed = await store.list(name)
  const unknown = columnNames(snapshot).find((column) => !columns.some((known) => known.name === column))
  if (unknown === undefined) return { store, name, columns, snapshot, listed }
  throw new CommandError(
    `${store.location}/${name}: This version does not know the column ${unknown}. Install a later one.`,
  )
}

const RESTORE =
  'Restore it. Or delete this folder: the next sync then fetches what the plan reaches, and older days are lost.'

const logOf = (table: string): string => `${table}/_delta_log`

async function readSnapshot(store: Store, table: string): Promise<Snapshot> {
  const snapshot = emptySnapshot()
  const hint = await store.read(`${logOf(table)}/_last_checkpoint`)
  if (hint !== undefined) {
    const version = parse('_last_checkpoint', () => JSON.parse(hint.toString()).version)
    const name = `${versionName(version)}.checkpoint.parquet`
    const bytes = await store.read(`${logOf(table)}/${name}`)
    if (bytes === undefined) throw damaged(name)
    const actions = await decodeCheckpoint(bufferOf(new Uint8Array(bytes))).catch((cause) => {
      throw damaged(name, cause)
    })
    parse(name, () => apply(snapshot, actions))
    snapshot.version = version
  }
  const start = snapshot.version < 0 ? '' : `${versionName(snapshot.version)}.json`
  const names = [...(await store.list(logOf(table), start)).keys()].filter((name) => ENTRY.test(name))
  const entries = await inParallel(names.sort(), PARALLEL, async (name) => {
    const text = String(await store.read(`${logOf(table)}/${name}`))
    return { name, actions: parse(name, () => parseEntry(text)) }
  })
  for (const { name, actions } of entries) {
    const next = `${versionName(snapshot.version + 1)}.json`
    if (name !== next) throw damaged(next)
    parse(name, () => apply(snapshot, actions))
    snapshot.version += 1
  }
  for (const path of snapshot.files.keys()) insidePath(path)
  return snapshot
}

const ENTRY = /^\d{20}\.json$/

function parse<Result>(name: string, read: () => Result): Result {
  try {
    return read()
  } catch (cause) {
    throw cause instanceof CommandError ? cause : damaged(name, cause)
  }
}

const damaged = (name: string, cause?: unknown): CommandError =>
  new CommandError(`_delta_log/${name} is damaged or missing.`, { cause })

/**
 * Commits the next version, and every hundredth version a checkpoint. `expiry` is the time in milliseconds before which
 * nothing is kept for readers of earlier versions. Throws `MovedError` when another process has committed since.
 */
export async function commit(
  table: Table,
  operation: string,
  { actions, expiry }: { readonly actions: readonly Action[]; readonly expiry: number },
): Promise<void> {
  const { store, name, snapshot } = table
  const version = snapshot.version + 1
  const id = randomUUID()
  const commitInfo = {
    timestamp: Date.now(),
    operation,
    operationParameters: {},
    engineInfo: `export-api/${manifest.version}`,
    txnId: id,
  }
  const all = [{ commitInfo }, ...definition(table), ...actions]
  const path = `${logOf(name)}/${versionName(version)}.json`
  if (!(await store.createIfAbsent(path, formatEntry(all)))) {
    // The response to a successful request can be lost. Its repetition is refused.
    const existing = await store.read(path)
    if (existing?.includes(id) !== true)
      throw new MovedError(
        `Other syncs write ${store.location} all the time. Run sync again when they have ended.`,
      )
  }
  apply(snapshot, all)
  snapshot.version = version
  if (version > 0 && version % CHECKPOINT_EVERY === 0) await writeCheckpoint(table, expiry)
}

/** Whether the latest version of a table has its columns. */
export const isCurrent = ({ snapshot, columns }: Pick<Table, 'snapshot' | 'columns'>): boolean =>
  snapshot.metaData?.schemaString === deltaSchema(columns)

/** Returns what defines a table, if it is new or lacks columns. Its files of before have null in new columns. */
function definition({ snapshot, columns }: Table): Action[] {
  const { metaData } = snapshot
  const schemaString = deltaSchema(columns)
  if (isCurrent({ snapshot, columns })) return []
  if (metaData !== undefined) return [{ metaData: { ...metaData, schemaString } }]
  const format = { provider: 'parquet', options: {} }
  const created = { id: randomUUID(), format, partitionColumns: [], configuration: {} }
  return [{ protocol: PROTOCOL }, { metaData: { ...created, schemaString, createdTime: Date.now() } }]
}

async function writeCheckpoint({ store, name, snapshot }: Table, expiry: number): Promise<void> {
  const { version } = snapshot
  const { bytes, size } = encodeCheckpoint(snapshot, expiry)
  await store.replace(`${logOf(name)}/${versionName(version)}.checkpoint.parquet`, bytes)
  await store.replace(`${logOf(name)}/_last_checkpoint`, JSON.stringify({ version, size }))
  // Readers of earlier versions begin with the last checkpoint that has expired.
  const log = await store.list(logOf(name))
  const expired = [...log].filter(([file, { modified }]) => /^\d{20}\./.test(file) && modified < expiry)
  const oldest = expired
    .map(([file]) => file)
    .filter((file) => file.endsWith('.checkpoint.parquet'))
    .sort()
    .at(-1)
  if (oldest === undefined) return
  const unneeded = expired.filter(([file]) => file.slice(0, 20) < oldest.slice(0, 20))
  await store.remove(unneeded.map(([file]) => `${logOf(name)}/${file}`))
}

/** Deletes files that were removed from a table before a time in milliseconds. */
export async function vacuum({ store, name, snapshot, listed }: Table, expiry: number): Promise<void> {
  const expired = [...snapshot.removed].filter(([path, time]) => time < expiry && listed.has(path))
  await store.remove(expired.map(([path]) => `${name}/${path}`))
}

/** Returns the action that adds a file. */
export const addition = ({ path, ...file }: Pick<AddFile, 'path' | 'size' | 'stats' | 'tags'>): Action => ({
  add: {
    ...file,
    path: encodeURI(path),
    partitionValues: {},
    modificationTime: Date.now(),
    dataChange: true,
  },
})

/** Returns the action that removes a file. */
export const removal = ({ path }: Pick<AddFile, 'path'>): Action => ({
  remove: { path: encodeURI(path), deletionTimestamp: Date.now(), dataChange: true },
})
