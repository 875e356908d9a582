import { existsSync, type Stats } from 'node:fs'
import { lstat, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { asyncBufferFromFile } from 'hyparquet'
import { fileWriter } from 'hyparquet-writer'
import { CommandError } from './errors.ts'
import { refuseOthers, removeUnfinished, replaceFile } from './folder.ts'
import { sha256OfFile } from './hash.ts'
import { removeOldLocks, withLock } from './lock.ts'
import { isListed } from './paths.ts'
import type { Store, Stored } from './store.ts'

/** A copy in a folder. */
export function folderStore(folder: string): Store {
  const at = (path: string): string => join(folder, path)
  return {
    location: folder,
    isShared: false,
    async list() {
      const names = existsSync(folder) ? await readdir(folder, { recursive: true }) : []
      const paths = names.map((name) => name.split(sep).join('/')).filter(isListed)
      const stored = paths.map(async (path): Promise<[string, Stored]> => {
        const stats = await lstat(at(path))
        return [path, stats.isFile() ? describe(stats) : { size: -1, version: '' }]
      })
      return new Map(await Promise.all(stored))
    },
    async open(path) {
      if (!existsSync(at(path))) throw new CommandError(`${at(path)} is missing.`)
      if (!(await lstat(at(path))).isFile()) throw new CommandError(`${at(path)} is no file.`)
      return asyncBufferFromFile(at(path))
    },
    async create(path, write) {
      let rows = 0
      await replaceFile(at(path), async (unfinished) => {
        rows = await write(fileWriter(unfinished))
        return rows > 0
      })
      if (rows === 0) return undefined
      const stored = describe(await stat(at(path)))
      return { path, ...stored, sha256: await sha256OfFile(await asyncBufferFromFile(at(path))) }
    },
    async readText(path) {
      if (!existsSync(at(path))) return undefined
      const text = await readFile(at(path), 'utf8').catch((cause) => {
        throw new CommandError(`${at(path)} cannot be read: ${cause.message}.`, { cause })
      })
      return { text, version: '' }
    },
    writeText: (path, text) => writeText(at(path), text),
    async replaceText(path, text) {
      // The lock keeps others away.
      await writeText(at(path), text)
      return true
    },
    async remove(paths) {
      for (const path of paths) {
        await rm(at(path), { recursive: true, force: true })
        await removeEmpty(dirname(at(path)), folder)
      }
    },
    async exclusively(work) {
      await refuseOthers(folder)
      return withLock(folder, async () => {
        await removeUnfinished(folder)
        await removeOldLocks(folder)
        return work()
      })
    },
  }
}

const describe = ({ size, mtimeMs }: Stats) => ({ size, version: String(mtimeMs) })

const writeText = (path: string, text: string): Promise<void> =>
  replaceFile(path, async (unfinished) => {
    await writeFile(unfinished, text)
    return true
  })

/** Removes a folder within another if it is empty, and those around it. */
async function removeEmpty(path: string, root: string): Promise<void> {
  if (relative(root, path) === '') return
  const isRemoved = await rmdir(path).then(
    () => true,
    () => false,
  )
  if (isRemoved) await removeEmpty(dirname(path), root)
}
