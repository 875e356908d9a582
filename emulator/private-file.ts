import { renameSync, writeFileSync } from 'node:fs'

/** Replaces a file that only its owner may read. Readers see the previous content or all of the new one. */
export function writePrivateFile(path: string, content: string): void {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, content, { mode: 0o600 })
  renameSync(unfinished, path)
}
