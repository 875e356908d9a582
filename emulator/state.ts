import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shareProfile } from '../reference/share-profile.ts'
import { isAlive } from './shutdown.ts'

const FOLDER = fileURLToPath(new URL('../.state/', import.meta.url))

/** The objects of the share. Their names are random, so databases can have the folder in common. */
export const R2_FOLDER = join(FOLDER, 'r2')

const PID = join(FOLDER, 'pid')
const LOADED = join(FOLDER, 'loaded')

/** Where `npm start` keeps its data. */
export type State = {
  /** The files of the embedded Postgres. */
  readonly postgres: string
  /** Whether an earlier start has loaded the data. */
  readonly isLoaded: boolean
  /** Marks the data as loaded: the next start keeps them. */
  readonly markLoaded: () => void
}

/** Writes a profile file of the share for a service of this machine, and returns its path. */
export function writeProfile(url: string, key: string): string {
  const path = join(FOLDER, `demo-${new URL(url).port}.share`)
  writeFileSync(path, shareProfile(url, key), { mode: 0o600 })
  return path
}

/**
 * Takes the folder in which `npm start` keeps its data, until the process ends; undefined when another process has it.
 * Deletes data when `fresh`, or of which no start was completed.
 */
export function takeState({ fresh }: { readonly fresh: boolean }): State | undefined {
  mkdirSync(FOLDER, { recursive: true })
  if (!lock()) return undefined
  const postgres = join(FOLDER, 'postgres')
  if (fresh) rmSync(LOADED, { force: true })
  const isLoaded = existsSync(LOADED)
  if (!isLoaded) rmSync(postgres, { recursive: true, force: true })
  return { postgres, isLoaded, markLoaded: () => writeFileSync(LOADED, '') }
}

/** Writes this process's id. A process that was killed leaves its own. */
function lock(): boolean {
  for (;;) {
    try {
      writeFileSync(PID, String(process.pid), { flag: 'wx' })
      process.on('exit', () => rmSync(PID, { force: true }))
      return true
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const pid = Number(readFileSync(PID, 'utf8'))
    if (pid !== process.pid && isAlive(pid)) return false
    rmSync(PID, { force: true })
  }
}
