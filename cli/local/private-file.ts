import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Replaces a file that only its owner may read. Readers see the previous content or all of the new one. */
export function writePrivateFile(path: string, content: string): void {
  const unfinished = `${path}.${process.pid}`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, content, { mode: 0o600, flag: 'wx' })
  renameSync(unfinished, path)
}

/** Returns the secret in a file, a random one that it keeps the first time. */
export function keptSecret(path: string): string {
  if (!existsSync(path)) writePrivateFile(path, randomUUID())
  return readFileSync(path, 'utf8')
}
