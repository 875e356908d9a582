import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shareProfile } from '../reference/share-profile.ts'
import { takePidLock } from './pid-lock.mjs'
import { writePrivateFile } from './private-file.ts'

/** Where `npm start` keeps its data, and what commands need to know of it. */
export const STATE_FOLDER = fileURLToPath(new URL('../.state/', import.meta.url))

/** The objects of the share. Their names are random, so databases can have the folder in common. */
export const R2_FOLDER = join(STATE_FOLDER, 'r2')

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

/** Writes a profile file of the share for a service of this machine. */
export function writeProfile(url: string, key: string): void {
  const path = join(STATE_FOLDER, `demo-${new URL(url).port}.share`)
  writePrivateFile(path, shareProfile(url, key))
}

/**
 * Takes the folder in which `npm start` keeps its data, until the process ends; undefined when another process has it.
 * Deletes data when `fresh`, or of which no start was completed.
 */
export function takeState({ fresh }: { readonly fresh: boolean }): State | undefined {
  mkdirSync(STATE_FOLDER, { recursive: true })
  if (takePidLock(join(STATE_FOLDER, 'lock')).owner !== undefined) return undefined
  const postgres = join(STATE_FOLDER, 'postgres')
  if (fresh) rmSync(LOADED, { force: true })
  const isLoaded = existsSync(LOADED)
  if (!isLoaded) rmSync(postgres, { recursive: true, force: true })
  return { postgres, isLoaded, markLoaded: () => writeFileSync(LOADED, '') }
}
