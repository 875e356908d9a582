// Plain JavaScript: cli/main.mjs uses it before anything is installed.
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Thrown for what is not a folder that this checkout has made. */
export class OwnFolderError extends Error {}

/**
 * Throws {@link OwnFolderError} for a link or a file: what is deleted below a link would be in another folder.
 *
 * @param {string} path
 */
export function requireOwnFolder(path) {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new OwnFolderError(`${path} is not a folder but a link or a file. Delete it.`)
}

/**
 * Takes a lock until it is released or this process ends. The lock is a folder with a file named after the pid of its
 * owner, so that only one of several processes can replace the lock of a process that has ended.
 *
 * @param {string} path
 * @returns {{ owner: number, release?: undefined } | { owner?: undefined, release: () => void }} the pid of the process
 * that has the lock, or the function that releases it
 */
export function takePidLock(path) {
  requireOwnFolder(path)
  const own = `${path}.${process.pid}`
  const name = String(process.pid)
  rmSync(own, { recursive: true, force: true })
  mkdirSync(own)
  writeFileSync(join(own, name), '')
  const release = () => {
    process.off('exit', release)
    remove(path, name)
  }
  try {
    for (;;) {
      const owner = ownerOf(path)
      // After a restart of a container, this process can have the pid of the owner that has ended.
      if (owner !== undefined && owner !== name && isAlive(Number(owner))) return { owner: Number(owner) }
      remove(path, owner)
      if (!replace(path, own)) continue
      process.on('exit', release)
      return { release }
    }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/**
 * Whether a process runs.
 *
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * Removes a lock unless another process has taken it.
 *
 * @param {string} path
 * @param {string | undefined} owner
 */
function remove(path, owner) {
  try {
    if (owner !== undefined) unlinkSync(join(path, owner))
    rmdirSync(path)
  } catch {
    // There is no lock, or it has another owner.
  }
}

/** @param {string} path */
function ownerOf(path) {
  const names = namesIn(path)
  if (names.every((name) => /^\d+$/.test(name))) return names[0]
  throw new OwnFolderError(`${path} is not a lock: it has other files. Delete it.`)
}

/** @param {string} path */
function namesIn(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Says that a folder with files is there, even if its owner has released the lock by now. Windows has no code for it. */
const IS_TAKEN = new Set(['ENOTEMPTY', 'EEXIST'])

/**
 * Moves a folder to a path where nothing is, or an empty folder. Returns false when another process was faster.
 *
 * @param {string} path
 * @param {string} own
 */
function replace(path, own) {
  try {
    renameSync(own, path)
    return true
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && IS_TAKEN.has(String(error.code))
    if (!isTaken && ownerOf(path) === undefined) throw error
    return false
  }
}
