import { randomUUID } from 'node:crypto'
import { bufferOf, type Column, deltaSchema } from '../../../../lib/share/parquet.ts'
import manifest from '../../package.json' with { type: 'json' }
import { CommandError, isSystemError, MovedError } from '../errors.ts'
import { inParallel } from '../in-parallel.ts'
import { insidePath, isOwnFile, type Store, type Stored } from '../store.ts'
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
  readonly listed: Map<string, Stored>
  /** Files that this process has written for it, and that no version has yet. */
  readonly loose: Set<string>
}

const PARALLEL = 16
/** Entries of a log that are in memory. */
const BLOCK = 64
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
  const listed = new Map(await store.list(name))
  const unknown = columnNames(snapshot).find((column) => !columns.some((known) => known.name === column))
  if (unknown === undefined) return { store, name, columns, snapshot, listed, loose: new Set() }
  throw new CommandError(
    `${store.location}/${name}: This version does not know the column ${unknown}. Install a later one.`,
  )
}

const RESTORE =
  'Restore it. Or delete this folder: the next sync then fetches what the plan reaches. Older days of a metric are lost, and without the folder brands the copy becomes one of everything.'

const logOf = (table: string): string => `${table}/_delta_log`

async function readSnapshot(store: Store, table: string): Promise<Snapshot> {
  const hint = await store.read(`${logOf(table)}/_last_checkpoint`)
  const version = hint && parse('_last_checkpoint', () => Number(JSON.parse(hint.toString()).version))
  const snapshot = emptySnapshot()
  for await (const _ of applyEntries(store, table, snapshot, version));
  for (const path of snapshot.files.keys()) insidePath(path)
  return snapshot
}

/**
 * Yields the actions of the versions that the log still has without a gap, oldest first, next to the version before each. With
 * `isRecent`, only those since the last checkpoint.
 */
export async function* readVersions({ store, name }: Pick<Table, 'store' | 'name'>, isRecent: boolean) {
  const files = [...(await store.list(logOf(name))).keys()].sort()
  const versionsOf = (pattern: RegExp) => files.filter((file) => pattern.test(file)).map(Number.parseFloat)
  const entries = new Set(versionsOf(ENTRY))
  let first = Math.max(...entries)
  while (entries.has(first - 1)) first -= 1
  const checkpoints = versionsOf(/^\d{20}\.checkpoint\.parquet$/).filter((version) => version >= first - 1)
  const oldest = first === 0 ? undefined : checkpoints[0]
  const before = emptySnapshot()
  for await (const actions of applyEntries(store, name, before, isRecent ? checkpoints.at(-1) : oldest))
    yield { before, actions }
}

/** Applies a checkpoint, if there is one, and then the entries after it. Yields the actions of each before they are applied. */
async function* applyEntries(
  store: Store,
  table: string,
  snapshot: Snapshot,
  version: number | undefined,
): AsyncGenerator<Action[]> {
  if (version !== undefined) {
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
  names.sort()
  while (names.length > 0) {
    const entries = await inParallel(names.splice(0, BLOCK), PARALLEL, async (name) => {
      const text = String(await store.read(`${logOf(table)}/${name}`))
      return { name, actions: parse(name, () => parseEntry(text)) }
    })
    for (const { name, actions } of entries) {
      const next = `${versionName(snapshot.version + 1)}.json`
      if (name !== next) throw damaged(next)
      yield actions
      parse(name, () => apply(snapshot, actions))
      snapshot.version += 1
    }
  }
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

type Commit = {
  readonly actions: readonly Action[]
  readonly expiry: number
  /** What engines show in the history of the table. */
  readonly userMetadata?: string
}

/**
 * Commits the next version, and every hundredth version a checkpoint. `expiry` is the time in milliseconds before which
 * nothing is kept for readers of earlier versions. Throws `MovedError` when another process has committed since.
 */
export async function commit(
  table: Table,
  operation: string,
  { actions, expiry, userMetadata }: Commit,
): Promise<void> {
  const { store, name, snapshot, loose } = table
  const version = snapshot.version + 1
  const id = randomUUID()
  const timestamp = await store.now(name)
  const commitInfo = {
    timestamp,
    operation,
    operationParameters: {},
    engineInfo: `export-api/${manifest.version}`,
    userMetadata,
    txnId: id,
  }
  const timed = actions.map(({ remove, ...action }) =>
    remove ? { remove: { ...remove, deletionTimestamp: timestamp } } : action,
  )
  const all = [{ commitInfo }, ...definition(table), ...timed]
  const path = `${logOf(name)}/${versionName(version)}.json`
  // From now on, a version may have them: the response of a commit can be lost.
  const offered = [...loose].filter((file) => actions.some(({ add }) => add?.path === file))
  for (const file of offered) loose.delete(file)
  const isCreated = await store.createIfAbsent(path, formatEntry(all)).catch(async (error) => {
    // A full disk: unlike to a bucket, nothing arrives later.
    if (isSystemError(error) && !(await store.read(path))) for (const file of offered) loose.add(file)
    throw error
  })
  if (!isCreated) {
    // The response to a successful request can be lost. Its repetition is refused.
    const existing = await store.read(path)
    if (existing?.includes(id) !== true) {
      // Without an entry, the first attempt of this commit can be on its way.
      if (existing !== undefined) for (const file of offered) loose.add(file)
      throw new MovedError(
        `Other syncs write ${store.location} all the time. Run sync again when they have ended.`,
      )
    }
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
  const checkpoints = expired.map(([file]) => file).filter((file) => file.endsWith('.checkpoint.parquet'))
  const oldest = checkpoints.sort().at(-1)
  if (oldest === undefined) return
  const unneeded = expired.filter(([file]) => file.slice(0, 20) < oldest.slice(0, 20))
  await store.remove(unneeded.map(([file]) => `${logOf(name)}/${file}`))
}

/** Milliseconds of the store's clock. Before the expiry, nothing is kept for readers of earlier versions. */
export type Times = { readonly now: number; readonly expiry: number }

/** No sync that runs has older files that no version has. */
const LOOSE_MS = 3_600_000

/** Deletes the files of a table that were removed before the expiry. */
export async function removeExpired({ store, name, listed, snapshot }: Table, expiry: number): Promise<void> {
  const expired = [...snapshot.removed].filter(([path, time]) => time < expiry && listed.has(path))
  await store.remove(expired.map(([path]) => `${name}/${path}`))
}

/** Deletes the files of a table that a killed sync has left. */
export async function removeLeft(table: Table, { now, expiry }: Times): Promise<void> {
  const { store, name, listed, snapshot } = table
  const { version, files, removed } = snapshot
  const isLeft = (path: string, modified: number) =>
    isOwnFile(path) && modified < now - LOOSE_MS && !files.has(path) && !removed.has(path) && version >= 0
  const left = [...listed].flatMap(([path, { modified }]) => (isLeft(path, modified) ? [path] : []))
  // A sync that has slept since it wrote them finds this version, and starts over.
  if (left.length > 0) await commit(table, 'VACUUM', { actions: [], expiry })
  await store.remove(left.map((path) => `${name}/${path}`))
}

/** Deletes the files that no version has. */
export const removeLoose = ({ store, name, loose }: Table): Promise<void> =>
  store.remove([...loose].map((path) => `${name}/${path}`))

/** Returns the action that adds a file. */
export function addition({ path, ...file }: Pick<AddFile, 'path' | 'size' | 'stats' | 'tags'>): Action {
  const rest = { partitionValues: {}, modificationTime: Date.now(), dataChange: true }
  return { add: { ...file, path: encodeURI(path), ...rest } }
}

/** Returns the action that removes a file. Its commit adds the time. */
export const removal = ({ path }: Pick<AddFile, 'path'>): Action => ({
  remove: { path: encodeURI(path), deletionTimestamp: 0, dataChange: true },
})
