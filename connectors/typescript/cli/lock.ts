import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { CommandError } from './errors.ts'
import { flushToDisk, makeFolder } from './folder.ts'

const TOUCH_MS = 10_000
/** A process that cannot be seen and has not touched its lock for this long has ended: on another host, or unknown. */
const STALE_MS = 120_000
/** A process on this host with the number of the lock's owner is another one. */
const REUSED_MS = 3_600_000

type Owner = { readonly id: string; readonly pid: number; readonly host: string }

/** Runs one sync of a folder at a time. Throws `CommandError` when another one runs. */
export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  // A directory, since a rename does not replace one that has files: of several processes, one takes the lock.
  const lock = join(folder, '_lock')
  const owner = { id: randomUUID(), pid: process.pid, host: hostname() }
  const own = `${lock}.${owner.id}`
  await makeFolder(own)
  try {
    await writeFile(ownerPath(own), JSON.stringify(owner))
    await flushToDisk(ownerPath(own))
    const aside = await moveEnded(lock, owner)
    try {
      await take(lock, own)
      return await whileTouched(lock, work)
    } finally {
      if ((await readOwner(lock))?.id === owner.id) await rename(lock, own)
      // Until here, it keeps other processes from moving this process's lock.
      if (aside !== undefined) await rm(aside, { recursive: true, force: true })
    }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

const ownerPath = (lock: string): string => join(lock, 'owner.json')

/** Moves the lock of a process that has ended. Returns its new path when this process has moved it. */
async function moveEnded(lock: string, own: Owner): Promise<string | undefined> {
  const ended = await readOwner(lock)
  if (!(await hasEnded(lock, ended, own))) return undefined
  const aside = `${lock}.${ended?.id ?? 'unknown'}`
  return rename(lock, aside).then(
    () => aside,
    () => undefined,
  )
}

async function take(lock: string, own: string): Promise<void> {
  try {
    await rename(own, lock)
  } catch (cause) {
    const message = `Another sync writes this folder. Wait for its end, or delete ${lock} if none runs.`
    throw new CommandError(message, { cause })
  }
}

async function whileTouched<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const touch = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), TOUCH_MS)
  return work().finally(() => clearInterval(touch))
}

/** Returns the owner of a lock; undefined when there is none, when its owner releases it, or when it cannot be read. */
const readOwner = (lock: string): Promise<Owner | undefined> =>
  readFile(ownerPath(lock), 'utf8')
    .then(JSON.parse)
    .then((owner) => (typeof owner?.id === 'string' ? owner : undefined))
    .catch(() => undefined)

async function hasEnded(lock: string, owner: Owner | undefined, own: Owner): Promise<boolean> {
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }))
  // A clock that was set back leaves a time in the future.
  const untouchedMs = Math.abs(Date.now() - mtimeMs)
  // The same number on a host of the same name is another container's.
  const isVisible = owner?.host === own.host && owner.pid !== own.pid
  if (!isVisible) return untouchedMs > STALE_MS
  return !isAlive(owner.pid) || untouchedMs > REUSED_MS
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Removes what processes left that were killed while they took or released a lock. */
export async function removeOldLocks(folder: string): Promise<void> {
  const own = { id: '', pid: process.pid, host: hostname() }
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (!name.startsWith('_lock.') || !(await hasEnded(path, await readOwner(path), own))) continue
    await rm(path, { recursive: true, force: true })
  }
}
