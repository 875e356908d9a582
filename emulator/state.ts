import { accessSync, chmodSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requireOwnFolder, takePidLock } from '../cli/local/pid-lock.mjs'
import { writePrivateFile } from '../cli/local/private-file.ts'
import { shareProfile } from '../site/reference/share-profile.ts'

/** Where `npm start` keeps its data, and what commands need to know of it. */
export const STATE_FOLDER = fileURLToPath(new URL('../.state', import.meta.url))

/** The objects of the share. Their names are random, so databases can have the folder in common. */
export const R2_FOLDER = join(STATE_FOLDER, 'r2')

/** The secret that signs cursors and the share's URLs, so that they outlive a restart. */
export const CURSOR_SECRET_FILE = join(STATE_FOLDER, 'cursor-secret')

const POSTGRES_FOLDER = join(STATE_FOLDER, 'postgres')

const LOADED = join(STATE_FOLDER, 'loaded')

/** The data of `npm start`. */
export type State = {
  /** The files of the embedded Postgres. */
  readonly postgres: string
  /** Whether an earlier start has loaded the data. */
  readonly isLoaded: boolean
  /** Marks the data as loaded: the next start keeps them. */
  readonly markLoaded: () => void
}

/** Makes the folder, which only its owner can read: PGlite lets every user write its files. Throws `OwnFolderError` when it or one in it is a link. */
export function makeStateFolder(): void {
  for (const path of [STATE_FOLDER, POSTGRES_FOLDER, R2_FOLDER]) requireOwnFolder(path)
  // Node's recursive mkdir reports a read-only disk as ENOENT.
  if (!existsSync(STATE_FOLDER)) accessSync(dirname(STATE_FOLDER), constants.W_OK)
  mkdirSync(STATE_FOLDER, { recursive: true })
  chmodSync(STATE_FOLDER, 0o700)
}

/** Writes a profile file of the share for a service of this machine. */
export function writeProfile(url: string, key: string): void {
  const path = join(STATE_FOLDER, `demo-${new URL(url).port}.share`)
  writePrivateFile(path, shareProfile(url, key))
}

/**
 * Takes the folder in which `npm start` keeps its data, until the process ends; undefined when another process has it.
 * Deletes data when `fresh`, or of which no start was completed.
 */
export function takeState({ fresh }: { readonly fresh?: boolean }): State | undefined {
  if (takePidLock(join(STATE_FOLDER, 'lock')).owner !== undefined) return undefined
  if (fresh) rmSync(LOADED, { force: true })
  const isLoaded = existsSync(LOADED)
  if (!isLoaded) rmSync(POSTGRES_FOLDER, { recursive: true, force: true })
  return { postgres: POSTGRES_FOLDER, isLoaded, markLoaded: () => writeFileSync(LOADED, '', { flag: 'a' }) }
}
